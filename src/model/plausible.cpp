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
enum class quantity : std::uint8_t {
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
constexpr quantity quantity_of(unit u) noexcept {
  if (u < unit::bytes || u > unit::volts) return quantity::none;
  return static_cast<quantity>(static_cast<int>(u) - static_cast<int>(unit::bytes));
}
static_assert(quantity_of(unit::bytes) == quantity::bytes &&
              quantity_of(unit::percent) == quantity::percent &&
              quantity_of(unit::celsius) == quantity::celsius &&
              quantity_of(unit::watts) == quantity::watts &&
              quantity_of(unit::joules) == quantity::joules &&
              quantity_of(unit::megahertz) == quantity::megahertz &&
              quantity_of(unit::rpm) == quantity::rpm &&
              quantity_of(unit::volts) == quantity::volts);

constexpr float most_watts = 1e4;  // of one device; a rack has ten times as much

constexpr std::uint32_t of(std::initializer_list<source> all) {
  std::uint32_t bits = 0;
  for (const source s : all) bits |= static_cast<std::uint32_t>(bit_of(s));
  return bits;
}
constexpr std::uint32_t any = ~0U;
constexpr std::uint32_t drivers = ~of({source::simulated});
constexpr std::uint32_t nvidia = of({source::nvml, source::nvidia_smi});
constexpr std::uint32_t amd = of({source::amdgpu, source::amd_smi, source::rocm_smi});

// Row of the table. The first one with the quantity and the source applies.
struct limit {
  quantity what;
  std::uint32_t in;  // sources
  float least;       // of what is not 0
  float most;
  bool has_zero = true;  // false: the driver writes 0 where it has no value
};

// Limits are below the fillers that fit drivers' fields: 255 C, 65535 MHz, 65535 W.
constexpr limit limits[] = {
    // 256 TiB, four times that of the largest hosts
    {quantity::bytes, any, 0, 0x1p48},
    // No GPU or host has less than 1 MiB, except one that a test describes.
    {quantity::device_total, nvidia | amd, 0x1p20, 0x1p48, false},
    {quantity::device_total, drivers, 0x1p20, 0x1p48},
    {quantity::device_total, any, 0, 0x1p48},
    {quantity::host_total, drivers, 0x1p20, 0x1p48, false},
    {quantity::host_total, any, 0, 0x1p48},
    // five levels of page tables
    {quantity::address_space, any, 0, 0x1p57},
    {quantity::percent, any, 0, 100},
    // nvml.h and nvidia-smi(1): "may exceed 100%", of the speed that is rated for noise
    {quantity::fan_percent, nvidia | of({source::simulated}), 0, 1000},
    {quantity::fan_percent, any, 0, 100},
    // Electronics are specified for -55 to 125 C (MIL-STD-883), and silicon stops working far below
    // 250. hwmon, NVML, the vendors' tools and macmon write 0 for a missing sensor.
    {quantity::celsius, drivers, -100, 250, false},
    {quantity::celsius, any, -100, 250},
    // Intel's and Apple's are differences of energy, which an idle GPU does not need.
    {quantity::watts, nvidia | amd, 0, most_watts, false},
    {quantity::watts, any, 0, most_watts},
    {quantity::watts_limit, drivers, 0, most_watts, false},
    {quantity::watts_limit, any, 0, most_watts},
    {quantity::least_watts_limit, any, 0, most_watts},
    // that of a rack for 300 years
    {quantity::joules, any, 0, 0x1p50},
    // Effective rates of graphics memory reach 36 GHz. The core's clock stops when it is idle:
    // GFXOFF of AMD, RC6 of Intel. NVIDIA's does not.
    {quantity::megahertz, nvidia, 0, 5e4, false},
    {quantity::megahertz, any, 0, 5e4},
    {quantity::memory_megahertz, drivers, 0, 5e4, false},
    {quantity::memory_megahertz, any, 0, 5e4},
    {quantity::megahertz_limit, drivers, 0, 5e4, false},
    {quantity::megahertz_limit, any, 0, 5e4},
    {quantity::rpm, any, 0, 3e4},
    {quantity::volts, drivers, 0, 1000, false},  // of a gated rail
    {quantity::volts, any, 0, 1000},
    {quantity::generation, any, 1, 8, false},
    {quantity::lanes, any, 1, 32, false},
    {quantity::p_state, any, 0, 15},
    // A counter at the maximum of its type was never read.
    {quantity::errors, any, 0, 0x1.fffffep31},
    // a hundred times as many as a GPU has to spare
    {quantity::remapped_rows, any, 0, 0x1p16},
    {quantity::flag, any, 0, 1},
};

struct range {
  double least;
  double most;
};

// Range that every source may report. Most values are in it, and need no search for their limits.
struct common_range {
  float least = std::numeric_limits<float>::lowest();
  float most = std::numeric_limits<float>::max();
  bool has_zero = true;

  [[nodiscard]] constexpr bool has(double value) const noexcept {
    return value >= least && value <= most && (value != 0 || has_zero);
  }
};

constexpr auto common_ranges = [] {
  std::array<common_range, static_cast<std::size_t>(quantity::none)> all;
  for (const limit& l : limits) {
    common_range& of = all[static_cast<std::size_t>(l.what)];
    of.least = std::max(of.least, l.least);
    of.most = std::min(of.most, l.most);
    of.has_zero = of.has_zero && l.has_zero;
  }
  all[static_cast<std::size_t>(quantity::lanes)] = {0, -1, false};  // not each number in its range
  return all;
}();

const limit& limit_of(quantity what, source from) noexcept {
  const limit* l = limits;
  while (l->what != what || (l->in & of({from})) == 0) ++l;  // the last row of each is for any
  return *l;
}

constexpr std::uint64_t rounding = 2 * 1024 * 1024;  // tools print whole MiB

struct exception {
  FieldSet fields = 0;
  quantity what = quantity::none;
};

// Parts are at most as large as the whole before them in the record.
struct rules {
  std::uint32_t wholes = 0;
  std::uint32_t parts = 0;
  std::array<exception, 7> exceptions{};
};

constexpr rules of_pool{
    pool_field::total,
    pool_field::free | pool_field::used | pool_field::reserved | pool_field::usable,
    {{{pool_field::total, quantity::device_total}}}};
constexpr rules of_telemetry{
    0,
    0,
    {{{telemetry_field::fan_percent, quantity::fan_percent},
      {telemetry_field::memory_clock_mhz, quantity::memory_megahertz},
      {telemetry_field::power_limit_watts, quantity::watts_limit},
      {telemetry_field::pcie_generation, quantity::generation},
      {telemetry_field::pcie_width, quantity::lanes},
      {telemetry_field::p_state, quantity::p_state},
      {telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes, quantity::none}}}};
// A process cannot use more than the device has.
constexpr rules of_usage{
    0,
    usage_field::used | usage_field::peak_used | usage_field::resident | usage_field::allocated,
    {}};
constexpr rules of_system_memory{
    HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL,
    HMN_SYSTEM_MEMORY_HAS_AVAILABLE | HMN_SYSTEM_MEMORY_HAS_SWAP_FREE,
    {{{HMN_SYSTEM_MEMORY_HAS_TOTAL, quantity::host_total},
      {HMN_SYSTEM_MEMORY_HAS_COMMITTED | HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT,
       quantity::address_space}}}};

quantity quantity_of(const field& f, const rules& by) noexcept {
  for (const exception& e : by.exceptions) {
    if ((e.fields & f.bit) != 0) return e.what;
  }
  return quantity_of(f.unit);
}

std::optional<double> number_of(const record_value& v) noexcept {
  if (const auto* const whole = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*whole);
  const double* const real = std::get_if<double>(&v);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

constexpr bool is_in(double value, const range& possible) noexcept {
  return value >= possible.least && value <= possible.most;  // false for NaN
}

piece number(double value, std::array<char, 32>& text) noexcept {
  constexpr double most = 0x1p53;
  const bool is_whole =
      is_in(value, {-most, most}) && static_cast<double>(static_cast<std::int64_t>(value)) == value;
  if (is_whole) return static_cast<std::int64_t>(value);
  const char* const end = write_shortest(text.data(), value);
  return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
}

// Who gives the values of a record: a driver, or the library, which adds up what it reports.
enum class Origin : std::uint8_t { driver, sum };

failure implausible(source from, std::string_view name, double value,
                    std::initializer_list<piece> why, Origin origin = Origin::driver) {
  std::array<char, 32> reported;
  std::array<char, 96> text;
  return {
      status::backend,
      from,
      {},
      {origin == Origin::driver ? "the driver reported " : "what the driver reported adds up to ",
       name, " ", number(value, reported), compose_in(text, why), ": implausible"},
      reason::implausible};
}

// `of` names what has the limit; "": none has.
failure out_of(const range& possible, source from, std::string_view name, double value,
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

std::optional<failure> doubt(const limit& by, range possible, source from, std::string_view name,
                             double value, std::string_view of, Origin origin = Origin::driver) {
  if (value == 0 && !by.has_zero) {
    return implausible(from, name, value, {", which stands for no value"});
  }
  if (value == 0) possible.least = std::min(possible.least, 0.0);
  if (!is_in(value, possible)) return out_of(possible, from, name, value, of, origin);
  if (by.what == quantity::lanes && !is_width_of_link(value)) {
    return implausible(from, name, value, {", which no link has"});
  }
  return std::nullopt;
}

struct whole {
  std::string_view name;
  std::optional<double> size;
  bool is_void = false;  // was implausible: so are its parts, which came with it
};

void check(field_list fields, const rules& by, void* record, source from, whole before,
           when_dropped report, Origin origin) {
  for (const field& f : fields) {
    const quantity what = quantity_of(f, by);
    if (what == quantity::none) continue;
    const bool is_whole = (f.bit & by.wholes) != 0;
    if (is_whole) before = {};
    const std::optional<double> value = number_of(f.get(record));
    if (!value) continue;
    const bool is_part = (f.bit & by.parts) != 0 && before.size;
    const bool is_void_part = (f.bit & by.parts) != 0 && before.is_void;
    const common_range& common = common_ranges[static_cast<std::size_t>(what)];
    if (common.has(*value) && !is_void_part && !(is_part && *value > *before.size)) {
      if (is_whole) before = {"the total of ", value};
      continue;
    }
    const limit& most = limit_of(what, from);
    range possible{most.least, most.most};
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
void check(Record& r, const rules& by, whole before, when_dropped report,
           Origin origin = Origin::driver) {
  check(fields_of<Record>(), by, &r, r.from, before, report, origin);
}

quantity quantity_of(const metric& m) noexcept {
  using enum metric_id;
  switch (m.id) {
    case temperature:
    case temperature_limit:
    case temperature_shutdown:
      return quantity::celsius;
    case fan_percent:
      return quantity::fan_percent;
    case fan_rpm:
      return quantity::rpm;
    case engine_percent:
      return quantity::percent;
    case power_watts:
      return quantity::watts;
    case power_limit_watts:
      return m.instance == which::power_limit::min ? quantity::least_watts_limit
                                                   : quantity::watts_limit;
    case energy_joules:
      return quantity::joules;
    case clock_mhz:
      return m.instance == which::clock::memory ? quantity::memory_megahertz : quantity::megahertz;
    case clock_limit_mhz:
      return quantity::megahertz_limit;
    case voltage:
      return quantity::volts;
    case ecc_corrected:
    case ecc_uncorrected:
    case pcie_replays:
      return quantity::errors;
    case rows_remapped:
      return m.instance == which::remapping::pending || m.instance == which::remapping::failed
                 ? quantity::flag
                 : quantity::remapped_rows;
    default:
      return quantity::none;
  }
}

// Returns the range that an energy counter can have reached since `before`, with a second more for
// the time at which the driver reads it.
range reach_of(const energy_reading& before, std::uint64_t now_ns) noexcept {
  const double seconds = static_cast<double>(now_ns - before.taken_ns) * 1e-9 + 1;
  return {before.joules, before.joules + seconds * most_watts};
}

// Returns whether the memory of the process is the device's. What is only committed need not be,
// but KFD grants no more than there is; of Apple's, some may be compressed or swapped out.
bool is_in_device(const usage& row) noexcept {
  if (row.from == source::metal) return false;
  return row.accounting != accounting::committed || row.from == source::kfd;
}

// Drops a part that is larger than all that the process has, resident or not.
void drop_above(const std::optional<std::uint64_t>& committed, std::optional<std::uint64_t>& part,
                const usage& of, FieldSet field, std::string_view name, when_dropped report) {
  if (!committed || !part || of.from == source::simulated) return;
  const std::uint64_t most = std::max(*committed, of.used.value_or(0));
  if (*part <= most) return;
  report(field, out_of({0, static_cast<double>(most)}, of.from, name, static_cast<double>(*part),
                       "what the process has, "));
  part.reset();
}

// Drops the metrics for which `doubt_of` returns a reason.
void drop_doubted(std::vector<metric>& all, when_dropped report,
                  function_ref<std::optional<failure>(const metric&)> doubt_of) {
  std::erase_if(all, [&](const metric& m) {
    const auto why = doubt_of(m);
    if (why) report(missing_metric(m.id, m.instance), *why);
    return why.has_value();
  });
}

}  // namespace

std::optional<failure> energy_seen::doubt(source from, std::string_view name, double joules,
                                          std::uint64_t now_ns, std::uint64_t since_ns) {
  const energy_reading now{joules, now_ns};
  const range possible = reach_of(last, now_ns);
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

void drop_implausible(device& d, when_dropped report) {
  if (d.memory_total) {
    const limit& by = limit_of(quantity::device_total, d.from);
    // Reading the device's memory reports it.
    if (doubt(by, {by.least, by.most}, d.from, "", static_cast<double>(*d.memory_total), "")) {
      d.memory_total.reset();
    }
  }
  // The address of the host's own bridge, or of no domain. Sources that read the bus report what is
  // on it.
  constexpr std::uint32_t reporting =
      of({source::nvml, source::nvidia_smi, source::amd_smi, source::rocm_smi});
  const auto address = parse_pci_address(d.pci_bus_id.view());
  const bool is_none = address == pci_address{} || (address && address->domain == UINT32_MAX);
  if ((reporting & of({d.from})) == 0 || !is_none) return;
  report(device_field::pci_bus_id,
         {status::backend,
          d.from,
          {},
          {"the driver reported pci_bus_id ", d.pci_bus_id.view(), ": implausible"},
          reason::implausible});
  d.pci_bus_id = {};
}

void drop_implausible(pool& p, when_dropped to, std::optional<std::uint64_t> most) {
  // Free memory that the driver does not report follows from the used.
  const auto report = [&](FieldSet field, const failure& why) {
    if (field == pool_field::used && !p.free) field |= pool_field::free;
    to(field, why);
  };
  // A lower bound is the sum of what processes are seen to use.
  const bool is_sum = (p.notes & note::lower_bound) != 0;
  check(p, of_pool, {}, report, is_sum ? Origin::sum : Origin::driver);
  if (p.total && most && *p.total > *most + rounding) {
    const failure why =
        out_of({0, static_cast<double>(*most)}, p.from, "total_bytes",
               static_cast<double>(*p.total), "what its GPU and its other instances leave, ");
    constexpr FieldSet all = of_pool.wholes | of_pool.parts;
    report(present_bits(p, all), why);
    forget(all, p);
  }
  if (!p.total || !p.free || !p.used || *p.free + *p.used <= *p.total + rounding) return;
  const range possible{0, static_cast<double>(*p.total)};
  // Nothing shows which of the two is true.
  report(pool_field::used | pool_field::free,
         out_of(possible, p.from, "free_bytes + used_bytes", static_cast<double>(*p.free + *p.used),
                "the total of ", Origin::sum));
  p.used.reset();
  p.free.reset();
}

void drop_implausible(telemetry& t, when_dropped report) {
  check(t, of_telemetry, {}, report);
}

void drop_implausible(usage& row, std::optional<std::uint64_t> total, when_dropped report) {
  whole device{"the device's ", {}};
  if (total && is_in_device(row)) device.size = static_cast<double>(*total);
  const bool is_sum = row.clients && row.clients->count > 1;
  check(row, of_usage, device, report, is_sum ? Origin::sum : Origin::driver);
  drop_above(row.committed, row.shared, row, usage_field::shared, "shared_bytes", report);
  drop_above(row.committed, row.purgeable, row, usage_field::purgeable, "purgeable_bytes", report);
}

void drop_implausible(system_memory& m, when_dropped report) {
  check(m, of_system_memory, {}, report);
}

void drop_implausible(std::vector<metric>& all, when_dropped report) {
  drop_doubted(all, report, [](const metric& m) -> std::optional<failure> {
    const quantity what = quantity_of(m);
    const metric_words* const words = words_of_metric(static_cast<std::uint32_t>(m.id));
    if (what == quantity::none || words == nullptr || (!m.value && !m.count)) return {};
    const limit& by = limit_of(what, m.from);
    const double value = m.value ? *m.value : static_cast<double>(*m.count);
    return doubt(by, {by.least, by.most}, m.from, words->name, value, "");
  });
}

std::optional<failure> doubt_time(source from, std::string_view what, std::uint64_t unix_ns,
                                  std::uint64_t now_ns) {
  // Drivers' clocks may be slightly ahead of the system's.
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (unix_ns <= now_ns || unix_ns - now_ns <= ns_per_second) return std::nullopt;
  return failure{status::backend,
                 from,
                 {},
                 {"the driver reported ", what, " of a time ", (unix_ns - now_ns) / ns_per_second,
                  " s in the future: implausible"},
                 reason::implausible};
}

namespace {

// Returns the counter that a source's telemetry has, which may be one of its metrics.
energy_seen& counter_of(source from, energy_history& seen) noexcept {
  constexpr std::uint32_t by_device = of({source::nvml, source::drm});
  constexpr std::uint32_t by_package = of({source::amd_smi, source::rocm_smi});
  if ((by_device & of({from})) != 0) return seen.counters[which::power_reading::unknown];
  if ((by_package & of({from})) != 0) return seen.counters[which::power_reading::package];
  return seen.counters.back();
}

}  // namespace

void drop_jumps(telemetry& t, energy_history& seen, std::uint64_t now_ns, when_dropped report) {
  if (!t.energy_joules) return;
  const auto why = counter_of(t.from, seen)
                       .doubt(t.from, "energy_joules", *t.energy_joules, now_ns, seen.since_ns);
  if (!why) return;
  report(telemetry_field::energy_joules, *why);
  t.energy_joules.reset();
}

void drop_jumps(std::vector<metric>& all, energy_history& seen, std::uint64_t now_ns,
                when_dropped report) {
  drop_doubted(all, report, [&](const metric& m) -> std::optional<failure> {
    if (m.id != metric_id::energy_joules || !m.value || m.instance >= seen.counters.size() - 1)
      return {};
    return seen.counters[m.instance].doubt(m.from, "energy_joules", *m.value, now_ns,
                                           seen.since_ns);
  });
}

}  // namespace hmn
