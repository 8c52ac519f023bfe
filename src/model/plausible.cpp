// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/plausible.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "model/decimal.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

// What a number measures, which decides its limits: its unit, or something more specific.
enum class Quantity : std::uint8_t {
  bytes,
  percent,
  celsius,
  watts,
  joules,
  megahertz,
  rpm,
  volts,
  device_total,
  host_total,
  address_space,
  fan_percent,
  memory_megahertz,
  megahertz_limit,
  watts_limit,
  least_watts_limit,
  generation,
  lanes,
  p_state,
  errors,
  remapped_rows,
  flag,
  none,
};

// The quantities begin in the order of the units.
constexpr Quantity quantity_of(Unit u) noexcept {
  if (u < Unit::bytes || u > Unit::volts) return Quantity::none;
  return static_cast<Quantity>(static_cast<int>(u) - static_cast<int>(Unit::bytes));
}
static_assert(quantity_of(Unit::bytes) == Quantity::bytes &&
              quantity_of(Unit::percent) == Quantity::percent &&
              quantity_of(Unit::celsius) == Quantity::celsius &&
              quantity_of(Unit::watts) == Quantity::watts &&
              quantity_of(Unit::joules) == Quantity::joules &&
              quantity_of(Unit::megahertz) == Quantity::megahertz &&
              quantity_of(Unit::rpm) == Quantity::rpm &&
              quantity_of(Unit::volts) == Quantity::volts);

constexpr float most_watts = 1e4;  // of one device; a rack has ten times as much

constexpr std::uint32_t of(std::initializer_list<Source> all) {
  std::uint32_t bits = 0;
  for (const Source s : all) bits |= static_cast<std::uint32_t>(bit_of(s));
  return bits;
}
constexpr std::uint32_t any = ~0U;
constexpr std::uint32_t drivers = ~of({Source::simulated});
constexpr std::uint32_t nvidia = of({Source::nvml, Source::nvidia_smi});
constexpr std::uint32_t amd = of({Source::amdgpu, Source::amd_smi, Source::rocm_smi});

// Row of the table. The first one with the quantity and the source applies.
struct Limit {
  Quantity what;
  std::uint32_t in;  // sources
  float least;       // of what is not 0
  float most;
  bool has_zero = true;  // false: the driver writes 0 where it has no value
};

// Limits are below the fillers that fit drivers' fields: 255 C, 65535 MHz, 65535 W.
constexpr Limit limits[] = {
    // 256 TiB, four times that of the largest hosts
    {Quantity::bytes, any, 0, 0x1p48},
    // No GPU or host has less than 1 MiB, except one that a test describes.
    {Quantity::device_total, nvidia | amd, 0x1p20, 0x1p48, false},
    {Quantity::device_total, drivers, 0x1p20, 0x1p48},
    {Quantity::device_total, any, 0, 0x1p48},
    {Quantity::host_total, drivers, 0x1p20, 0x1p48, false},
    {Quantity::host_total, any, 0, 0x1p48},
    // five levels of page tables
    {Quantity::address_space, any, 0, 0x1p57},
    {Quantity::percent, any, 0, 100},
    // nvml.h and nvidia-smi(1): "may exceed 100%", of the speed that is rated for noise
    {Quantity::fan_percent, nvidia | of({Source::simulated}), 0, 1000},
    {Quantity::fan_percent, any, 0, 100},
    // Electronics are specified for -55 to 125 C (MIL-STD-883), and silicon stops working far below
    // 250. hwmon, NVML, the vendors' tools and macmon write 0 for a missing sensor.
    {Quantity::celsius, drivers, -100, 250, false},
    {Quantity::celsius, any, -100, 250},
    // Intel's and Apple's are differences of energy, which an idle GPU does not need.
    {Quantity::watts, nvidia | amd, 0, most_watts, false},
    {Quantity::watts, any, 0, most_watts},
    {Quantity::watts_limit, drivers, 0, most_watts, false},
    {Quantity::watts_limit, any, 0, most_watts},
    {Quantity::least_watts_limit, any, 0, most_watts},
    // that of a rack for 300 years
    {Quantity::joules, any, 0, 0x1p50},
    // Effective rates of graphics memory reach 36 GHz. The core's clock stops when it is idle:
    // GFXOFF of AMD, RC6 of Intel. NVIDIA's does not.
    {Quantity::megahertz, nvidia, 0, 5e4, false},
    {Quantity::megahertz, any, 0, 5e4},
    {Quantity::memory_megahertz, drivers, 0, 5e4, false},
    {Quantity::memory_megahertz, any, 0, 5e4},
    {Quantity::megahertz_limit, drivers, 0, 5e4, false},
    {Quantity::megahertz_limit, any, 0, 5e4},
    {Quantity::rpm, any, 0, 3e4},
    {Quantity::volts, drivers, 0, 1000, false},  // of a gated rail
    {Quantity::volts, any, 0, 1000},
    {Quantity::generation, any, 1, 8, false},
    {Quantity::lanes, any, 1, 32, false},
    {Quantity::p_state, any, 0, 15},
    // A counter at the maximum of its type was never read.
    {Quantity::errors, any, 0, 0x1.fffffep31},
    // a hundred times as many as a GPU has to spare
    {Quantity::remapped_rows, any, 0, 0x1p16},
    {Quantity::flag, any, 0, 1},
};

struct Range {
  double least;
  double most;
};

// Range that every source may report. Most values are in it, and need no search for their limits.
struct CommonRange {
  float least = std::numeric_limits<float>::lowest();
  float most = std::numeric_limits<float>::max();
  bool has_zero = true;

  [[nodiscard]] constexpr bool has(double value) const noexcept {
    return value >= least && value <= most && (value != 0 || has_zero);
  }
};

constexpr auto common_ranges = [] {
  std::array<CommonRange, static_cast<std::size_t>(Quantity::none)> all;
  for (const Limit& l : limits) {
    CommonRange& of = all[static_cast<std::size_t>(l.what)];
    of.least = std::max(of.least, l.least);
    of.most = std::min(of.most, l.most);
    of.has_zero = of.has_zero && l.has_zero;
  }
  all[static_cast<std::size_t>(Quantity::lanes)] = {0, -1, false};  // not each number in its range
  return all;
}();

const Limit& limit_of(Quantity what, Source from) noexcept {
  const Limit* l = limits;
  while (l->what != what || (l->in & of({from})) == 0) ++l;  // the last row of each is for any
  return *l;
}

constexpr std::uint64_t rounding = 2 * 1024 * 1024;  // tools print whole MiB

struct Exception {
  FieldSet fields = 0;
  Quantity what = Quantity::none;
};

// Parts are at most as large as the whole before them in the record.
struct Rules {
  std::uint32_t wholes = 0;
  std::uint32_t parts = 0;
  std::array<Exception, 7> exceptions{};
};

constexpr Rules of_pool{
    pool_field::total,
    pool_field::free | pool_field::used | pool_field::reserved | pool_field::usable,
    {{{pool_field::total, Quantity::device_total}}}};
constexpr Rules of_telemetry{
    0,
    0,
    {{{telemetry_field::fan_percent, Quantity::fan_percent},
      {telemetry_field::memory_clock_mhz, Quantity::memory_megahertz},
      {telemetry_field::power_limit_watts, Quantity::watts_limit},
      {telemetry_field::pcie_generation, Quantity::generation},
      {telemetry_field::pcie_width, Quantity::lanes},
      {telemetry_field::p_state, Quantity::p_state},
      {telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes, Quantity::none}}}};
// A process cannot use more than the device has.
constexpr Rules of_usage{
    0,
    usage_field::used | usage_field::peak_used | usage_field::resident | usage_field::allocated,
    {}};
constexpr Rules of_system_memory{
    HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL,
    HMN_SYSTEM_MEMORY_HAS_AVAILABLE | HMN_SYSTEM_MEMORY_HAS_SWAP_FREE,
    {{{HMN_SYSTEM_MEMORY_HAS_TOTAL, Quantity::host_total},
      {HMN_SYSTEM_MEMORY_HAS_COMMITTED | HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT,
       Quantity::address_space}}}};

Quantity quantity_of(const Field& f, const Rules& by) noexcept {
  for (const Exception& e : by.exceptions) {
    if ((e.fields & f.bit) != 0) return e.what;
  }
  return quantity_of(f.unit);
}

std::optional<double> number_of(const RecordValue& v) noexcept {
  if (const auto* const whole = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*whole);
  const double* const real = std::get_if<double>(&v);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

constexpr bool is_in(double value, const Range& possible) noexcept {
  return value >= possible.least && value <= possible.most;  // false for NaN
}

Piece number(double value, std::array<char, 32>& text) noexcept {
  constexpr double most = 0x1p53;
  const bool is_whole =
      is_in(value, {-most, most}) && static_cast<double>(static_cast<std::int64_t>(value)) == value;
  if (is_whole) return static_cast<std::int64_t>(value);
  const char* const end = write_shortest(text.data(), value);
  return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
}

// Who gives the values of a record: a driver, or the library, which adds up what it reports.
enum class Origin : std::uint8_t { driver, sum };

Failure implausible(Source from, std::string_view name, double value,
                    std::initializer_list<Piece> why, Origin origin = Origin::driver) {
  std::array<char, 32> reported;
  std::array<char, 96> text;
  return {
      Status::backend,
      from,
      {},
      {origin == Origin::driver ? "the driver reported " : "what the driver reported adds up to ",
       name, " ", number(value, reported), compose_in(text, why), ": implausible"},
      Reason::implausible};
}

// `of` names what has the limit; "": none has.
Failure out_of(const Range& possible, Source from, std::string_view name, double value,
               std::string_view of, Origin origin = Origin::driver) {
  std::array<char, 32> limit;
  const bool is_below = value < possible.least;
  return implausible(from, name, value,
                     {is_below ? ", below " : ", above ", of,
                      number(is_below ? possible.least : possible.most, limit)},
                     origin);
}

constexpr bool is_width_of_link(double lanes) noexcept {
  constexpr std::uint64_t widths = 0x100011116;  // 1, 2, 4, 8, 12, 16, 32
  return (widths >> static_cast<unsigned>(lanes) & 1U) != 0;
}

std::optional<Failure> doubt(const Limit& by, Range possible, Source from, std::string_view name,
                             double value, std::string_view of, Origin origin = Origin::driver) {
  if (value == 0 && !by.has_zero) {
    return implausible(from, name, value, {", which stands for no value"});
  }
  if (value == 0) possible.least = std::min(possible.least, 0.0);
  if (!is_in(value, possible)) return out_of(possible, from, name, value, of, origin);
  if (by.what == Quantity::lanes && !is_width_of_link(value)) {
    return implausible(from, name, value, {", which no link has"});
  }
  return std::nullopt;
}

struct Whole {
  std::string_view name;
  std::optional<double> size;
  bool is_void = false;  // was implausible: so are its parts, which came with it
};

void check(FieldList fields, const Rules& by, void* record, Source from, Whole before,
           WhenDropped report, Origin origin) {
  for (const Field& f : fields) {
    const Quantity what = quantity_of(f, by);
    if (what == Quantity::none) continue;
    const bool is_whole = (f.bit & by.wholes) != 0;
    if (is_whole) before = {};
    const std::optional<double> value = number_of(f.get(record));
    if (!value) continue;
    const bool is_part = (f.bit & by.parts) != 0 && before.size;
    const bool is_void_part = (f.bit & by.parts) != 0 && before.is_void;
    const CommonRange& common = common_ranges[static_cast<std::size_t>(what)];
    if (common.has(*value) && !is_void_part && !(is_part && *value > *before.size)) {
      if (is_whole) before = {"the total of ", value};
      continue;
    }
    const Limit& most = limit_of(what, from);
    Range possible{most.least, most.most};
    if (is_part) possible.most = std::min(possible.most, *before.size);
    auto why = doubt(most, possible, from, f.key, *value, is_part ? before.name : "", origin);
    if (!why && is_void_part) {
      why = implausible(from, f.key, *value, {" of a total that cannot be"});
    }
    if (why) {
      report(f.bit, *why);
      forget(fields, f.bit, record);
      before.is_void = before.is_void || is_whole;
    } else if (is_whole) {
      before = {"the total of ", value};
    }
  }
}

template <class Record>
void check(Record& r, const Rules& by, Whole before, WhenDropped report,
           Origin origin = Origin::driver) {
  check(fields_of<Record>(), by, &r, r.from, before, report, origin);
}

Quantity quantity_of(const Metric& m) noexcept {
  using enum MetricId;
  switch (m.id) {
    case temperature:
    case temperature_limit:
    case temperature_shutdown:
      return Quantity::celsius;
    case fan_percent:
      return Quantity::fan_percent;
    case fan_rpm:
      return Quantity::rpm;
    case engine_percent:
      return Quantity::percent;
    case power_watts:
      return Quantity::watts;
    case power_limit_watts:
      return m.instance == which::power_limit::min ? Quantity::least_watts_limit
                                                   : Quantity::watts_limit;
    case energy_joules:
      return Quantity::joules;
    case clock_mhz:
      return m.instance == which::clock::memory ? Quantity::memory_megahertz : Quantity::megahertz;
    case clock_limit_mhz:
      return Quantity::megahertz_limit;
    case voltage:
      return Quantity::volts;
    case ecc_corrected:
    case ecc_uncorrected:
    case pcie_replays:
      return Quantity::errors;
    case rows_remapped:
      return m.instance == which::remapping::pending || m.instance == which::remapping::failed
                 ? Quantity::flag
                 : Quantity::remapped_rows;
    default:
      return Quantity::none;
  }
}

// Returns the range that an energy counter can have reached since `before`, with a second more for
// the time at which the driver reads it.
Range reach_of(const EnergyReading& before, std::uint64_t now_ns) noexcept {
  const double seconds = static_cast<double>(now_ns - before.taken_ns) * 1e-9 + 1;
  return {before.joules, before.joules + seconds * most_watts};
}

// Returns whether the memory of the process is the device's. What is only committed need not be,
// but KFD grants no more than there is; of Apple's, some may be compressed or swapped out.
bool is_in_device(const Usage& row) noexcept {
  if (row.from == Source::metal) return false;
  return row.accounting != Accounting::committed || row.from == Source::kfd;
}

// Drops a part that is larger than all that the process has, resident or not.
void drop_above(const std::optional<std::uint64_t>& committed, std::optional<std::uint64_t>& part,
                const Usage& of, FieldSet field, std::string_view name, WhenDropped report) {
  if (!committed || !part || of.from == Source::simulated) return;
  const std::uint64_t most = std::max(*committed, of.used.value_or(0));
  if (*part <= most) return;
  report(field, out_of({0, static_cast<double>(most)}, of.from, name, static_cast<double>(*part),
                       "what the process has, "));
  part.reset();
}

// Drops the metrics for which `doubt_of` returns a reason.
void drop_doubted(std::vector<Metric>& all, WhenDropped report,
                  FunctionRef<std::optional<Failure>(const Metric&)> doubt_of) {
  std::erase_if(all, [&](const Metric& m) {
    const auto why = doubt_of(m);
    if (why) report(missing_metric(m.id, m.instance), *why);
    return why.has_value();
  });
}

}  // namespace

std::optional<Failure> EnergySeen::doubt(Source from, std::string_view name, double joules,
                                         std::uint64_t now_ns, std::uint64_t since_ns) {
  const EnergyReading now{joules, now_ns};
  const Range possible = reach_of(last, now_ns);
  const bool follows = last.taken_ns == 0 || is_in(joules, possible);
  const bool was_doubted = doubted.taken_ns != 0 && doubted.taken_ns < since_ns;
  if (follows || (was_doubted && is_in(joules, reach_of(doubted, now_ns)))) {
    last = now;
    doubted = {};
    return std::nullopt;
  }
  doubted = now;
  return out_of(possible, from, name, joules, "what follows the last reading, ");
}

void drop_implausible(Device& d, WhenDropped report) {
  if (d.memory_total) {
    const Limit& by = limit_of(Quantity::device_total, d.from);
    // Reading the device's memory reports it.
    if (doubt(by, {by.least, by.most}, d.from, "", static_cast<double>(*d.memory_total), "")) {
      d.memory_total.reset();
    }
  }
  // The address of the host's own bridge, or of no domain. Sources that read the bus report what is
  // on it.
  constexpr std::uint32_t reporting =
      of({Source::nvml, Source::nvidia_smi, Source::amd_smi, Source::rocm_smi});
  const auto address = parse_pci_address(d.pci_bus_id.view());
  const bool is_none = address == PciAddress{} || (address && address->domain == UINT32_MAX);
  if ((reporting & of({d.from})) == 0 || !is_none) return;
  report(device_field::pci_bus_id,
         {Status::backend,
          d.from,
          {},
          {"the driver reported pci_bus_id ", d.pci_bus_id.view(), ": implausible"},
          Reason::implausible});
  d.pci_bus_id = {};
}

void drop_implausible(Pool& p, WhenDropped to, std::optional<std::uint64_t> most) {
  // Free memory that the driver does not report follows from the used.
  const auto report = [&](FieldSet field, const Failure& why) {
    if (field == pool_field::used && !p.free) field |= pool_field::free;
    to(field, why);
  };
  // A lower bound is the sum of what processes are seen to use.
  const bool is_sum = (p.notes & note::lower_bound) != 0;
  check(p, of_pool, {}, report, is_sum ? Origin::sum : Origin::driver);
  if (p.total && most && *p.total > *most + rounding) {
    const Failure why =
        out_of({0, static_cast<double>(*most)}, p.from, "total_bytes",
               static_cast<double>(*p.total), "what its GPU and its other instances leave, ");
    constexpr FieldSet all = of_pool.wholes | of_pool.parts;
    report(present_bits(p, all), why);
    forget(all, p);
  }
  if (!p.total || !p.free || !p.used || *p.free + *p.used <= *p.total + rounding) return;
  const Range possible{0, static_cast<double>(*p.total)};
  // Nothing shows which of the two is true.
  report(pool_field::used | pool_field::free,
         out_of(possible, p.from, "free_bytes + used_bytes", static_cast<double>(*p.free + *p.used),
                "the total of ", Origin::sum));
  p.used.reset();
  p.free.reset();
}

void drop_implausible(Telemetry& t, WhenDropped report) {
  check(t, of_telemetry, {}, report);
}

void drop_implausible(Usage& row, std::optional<std::uint64_t> total, WhenDropped report) {
  Whole device{"the device's ", {}};
  if (total && is_in_device(row)) device.size = static_cast<double>(*total);
  const bool is_sum = row.clients && row.clients->count > 1;
  check(row, of_usage, device, report, is_sum ? Origin::sum : Origin::driver);
  drop_above(row.committed, row.shared, row, usage_field::shared, "shared_bytes", report);
  drop_above(row.committed, row.purgeable, row, usage_field::purgeable, "purgeable_bytes", report);
}

void drop_implausible(SystemMemory& m, WhenDropped report) {
  check(m, of_system_memory, {}, report);
}

void drop_implausible(std::vector<Metric>& all, WhenDropped report) {
  drop_doubted(all, report, [](const Metric& m) -> std::optional<Failure> {
    const Quantity what = quantity_of(m);
    const MetricWords* const words = words_of_metric(static_cast<std::uint32_t>(m.id));
    if (what == Quantity::none || words == nullptr || (!m.value && !m.count)) return {};
    const Limit& by = limit_of(what, m.from);
    const double value = m.value ? *m.value : static_cast<double>(*m.count);
    return doubt(by, {by.least, by.most}, m.from, words->name, value, "");
  });
}

std::optional<Failure> doubt_time(Source from, std::string_view what, std::uint64_t unix_ns,
                                  std::uint64_t now_ns) {
  // Drivers' clocks may be slightly ahead of the system's.
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (unix_ns <= now_ns || unix_ns - now_ns <= ns_per_second) return std::nullopt;
  return Failure{Status::backend,
                 from,
                 {},
                 {"the driver reported ", what, " of a time ", (unix_ns - now_ns) / ns_per_second,
                  " s in the future: implausible"},
                 Reason::implausible};
}

namespace {

// Returns the counter that a source's telemetry has, which may be one of its metrics.
EnergySeen& counter_of(Source from, EnergyHistory& seen) noexcept {
  constexpr std::uint32_t by_device = of({Source::nvml, Source::drm});
  constexpr std::uint32_t by_package = of({Source::amd_smi, Source::rocm_smi});
  if ((by_device & of({from})) != 0) return seen.counters[which::power_reading::unknown];
  if ((by_package & of({from})) != 0) return seen.counters[which::power_reading::package];
  return seen.counters.back();
}

}  // namespace

void drop_jumps(Telemetry& t, EnergyHistory& seen, std::uint64_t now_ns, WhenDropped report) {
  if (!t.energy_joules) return;
  const auto why = counter_of(t.from, seen)
                       .doubt(t.from, "energy_joules", *t.energy_joules, now_ns, seen.since_ns);
  if (!why) return;
  report(telemetry_field::energy_joules, *why);
  t.energy_joules.reset();
}

void drop_jumps(std::vector<Metric>& all, EnergyHistory& seen, std::uint64_t now_ns,
                WhenDropped report) {
  drop_doubted(all, report, [&](const Metric& m) -> std::optional<Failure> {
    if (m.id != MetricId::energy_joules || !m.value || m.instance >= seen.counters.size() - 1)
      return {};
    return seen.counters[m.instance].doubt(m.from, "energy_joules", *m.value, now_ns,
                                           seen.since_ns);
  });
}

}  // namespace hmn
