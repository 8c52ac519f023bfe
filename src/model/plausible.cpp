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
  min_watts_limit,
  generation,
  lanes,
  p_state,
  errors,
  remapped_rows,
  flag,
  none,
};

// The quantities begin in the order of the units.
constexpr Quantity unit_quantity(Unit unit) noexcept {
  if (unit < Unit::bytes || unit > Unit::volts) return Quantity::none;
  return static_cast<Quantity>(static_cast<int>(unit) - static_cast<int>(Unit::bytes));
}
static_assert(unit_quantity(Unit::bytes) == Quantity::bytes &&
              unit_quantity(Unit::percent) == Quantity::percent &&
              unit_quantity(Unit::celsius) == Quantity::celsius &&
              unit_quantity(Unit::watts) == Quantity::watts &&
              unit_quantity(Unit::joules) == Quantity::joules &&
              unit_quantity(Unit::megahertz) == Quantity::megahertz &&
              unit_quantity(Unit::rpm) == Quantity::rpm &&
              unit_quantity(Unit::volts) == Quantity::volts);

constexpr float max_watts = 1e4;  // of one device; a rack has ten times as much

constexpr std::uint32_t source_mask(std::initializer_list<Source> sources) {
  std::uint32_t bits = 0;
  for (const Source source : sources) bits |= static_cast<std::uint32_t>(source_bit(source));
  return bits;
}
constexpr std::uint32_t any_source = ~0U;
constexpr std::uint32_t real_sources = ~source_mask({Source::simulated});
constexpr std::uint32_t nvidia = source_mask({Source::nvml, Source::nvidia_smi});
constexpr std::uint32_t amd = source_mask({Source::amdgpu, Source::amd_smi, Source::rocm_smi});

// Row of the table. The first one with the quantity and the source applies.
struct Limit {
  Quantity quantity;
  std::uint32_t sources;  // mask
  float min;              // of values other than 0
  float max;
  bool allows_zero = true;  // false: the driver writes 0 where it has no value
};

// Limits are below the fillers that fit real_sources' fields: 255 C, 65535 MHz, 65535 W.
constexpr Limit limits[] = {
    // 256 TiB, four times that of the largest hosts
    {Quantity::bytes, any_source, 0, 0x1p48},
    // No GPU or host has less than 1 MiB, except one that a test describes.
    {Quantity::device_total, nvidia | amd, 0x1p20, 0x1p48, false},
    {Quantity::device_total, real_sources, 0x1p20, 0x1p48},
    {Quantity::device_total, any_source, 0, 0x1p48},
    {Quantity::host_total, real_sources, 0x1p20, 0x1p48, false},
    {Quantity::host_total, any_source, 0, 0x1p48},
    // five levels of page tables
    {Quantity::address_space, any_source, 0, 0x1p57},
    {Quantity::percent, any_source, 0, 100},
    // nvml.h and nvidia-smi(1): "may exceed 100%", of the speed that is rated for noise
    {Quantity::fan_percent, nvidia | source_mask({Source::simulated}), 0, 1000},
    {Quantity::fan_percent, any_source, 0, 100},
    // Electronics are specified for -55 to 125 C (MIL-STD-883), and silicon stops working far below
    // 250. hwmon, NVML, the vendors' tools and macmon write 0 for a missing sensor.
    {Quantity::celsius, real_sources, -100, 250, false},
    {Quantity::celsius, any_source, -100, 250},
    // Intel's and Apple's are differences of energy, which an idle GPU does not need.
    {Quantity::watts, nvidia | amd, 0, max_watts, false},
    {Quantity::watts, any_source, 0, max_watts},
    {Quantity::watts_limit, real_sources, 0, max_watts, false},
    {Quantity::watts_limit, any_source, 0, max_watts},
    {Quantity::min_watts_limit, any_source, 0, max_watts},
    // that of a rack for 300 years
    {Quantity::joules, any_source, 0, 0x1p50},
    // Effective rates of graphics memory reach 36 GHz. The core's clock stops when it is idle:
    // GFXOFF of AMD, RC6 of Intel. NVIDIA's does not.
    {Quantity::megahertz, nvidia, 0, 5e4, false},
    {Quantity::megahertz, any_source, 0, 5e4},
    {Quantity::memory_megahertz, real_sources, 0, 5e4, false},
    {Quantity::memory_megahertz, any_source, 0, 5e4},
    {Quantity::megahertz_limit, real_sources, 0, 5e4, false},
    {Quantity::megahertz_limit, any_source, 0, 5e4},
    {Quantity::rpm, any_source, 0, 3e4},
    {Quantity::volts, real_sources, 0, 1000, false},  // of a gated rail
    {Quantity::volts, any_source, 0, 1000},
    {Quantity::generation, any_source, 1, 8, false},
    {Quantity::lanes, any_source, 1, 32, false},
    {Quantity::p_state, any_source, 0, 15},
    // A counter at the maximum of its type was never read.
    {Quantity::errors, any_source, 0, 0x1.fffffep31},
    // a hundred times as many as a GPU has to spare
    {Quantity::remapped_rows, any_source, 0, 0x1p16},
    {Quantity::flag, any_source, 0, 1},
};

struct Range {
  double min;
  double max;
};

// Range that every source may report. Most values are in it, so that their limits are not searched.
struct CommonRange {
  float min = std::numeric_limits<float>::lowest();
  float max = std::numeric_limits<float>::max();
  bool allows_zero = true;

  [[nodiscard]] constexpr bool contains(double value) const noexcept {
    return value >= min && value <= max && (value != 0 || allows_zero);
  }
};

constexpr auto common_ranges = [] {
  std::array<CommonRange, static_cast<std::size_t>(Quantity::none)> ranges;
  for (const Limit& limit : limits) {
    CommonRange& range = ranges[static_cast<std::size_t>(limit.quantity)];
    range.min = std::max(range.min, limit.min);
    range.max = std::min(range.max, limit.max);
    range.allows_zero = range.allows_zero && limit.allows_zero;
  }
  ranges[static_cast<std::size_t>(Quantity::lanes)] = {0, -1,
                                                       false};  // not each number in its range
  return ranges;
}();

const Limit& find_limit(Quantity quantity, Source source) noexcept {
  const Limit* limit = limits;
  while (limit->quantity != quantity || (limit->sources & source_mask({source})) == 0)
    ++limit;  // the last row of each quantity is for any source
  return *limit;
}

constexpr std::uint64_t rounding = 2 * 1024 * 1024;  // tools print whole MiB

struct QuantityOverride {
  FieldSet fields = 0;
  Quantity quantity = Quantity::none;
};

// Relations between the fields of a record: a part is at most as large as the last whole in front
// of it.
struct RecordRules {
  std::uint32_t wholes = 0;
  std::uint32_t parts = 0;
  std::array<QuantityOverride, 7> overrides{};
};

constexpr RecordRules pool_rules{
    pool_field::total,
    pool_field::free | pool_field::used | pool_field::reserved | pool_field::usable,
    {{{pool_field::total, Quantity::device_total}}}};
constexpr RecordRules telemetry_rules{
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
constexpr RecordRules usage_rules{
    0,
    usage_field::used | usage_field::peak_used | usage_field::resident | usage_field::allocated,
    {}};
constexpr RecordRules system_memory_rules{
    HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL,
    HMN_SYSTEM_MEMORY_HAS_AVAILABLE | HMN_SYSTEM_MEMORY_HAS_SWAP_FREE,
    {{{HMN_SYSTEM_MEMORY_HAS_TOTAL, Quantity::host_total},
      {HMN_SYSTEM_MEMORY_HAS_COMMITTED | HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT,
       Quantity::address_space}}}};

Quantity field_quantity(const Field& field, const RecordRules& rules) noexcept {
  for (const QuantityOverride& item : rules.overrides) {
    if ((item.fields & field.bit) != 0) return item.quantity;
  }
  return unit_quantity(field.unit);
}

std::optional<double> to_double(const RecordValue& value) noexcept {
  if (const auto* const integer = std::get_if<std::uint64_t>(&value))
    return static_cast<double>(*integer);
  const double* const real = std::get_if<double>(&value);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

constexpr bool is_in_range(double value, const Range& range) noexcept {
  return value >= range.min && value <= range.max;  // false for NaN
}

Piece format_number(double value, std::array<char, 32>& buffer) noexcept {
  constexpr double max_exact = 0x1p53;
  const bool is_whole = is_in_range(value, {-max_exact, max_exact}) &&
                        static_cast<double>(static_cast<std::int64_t>(value)) == value;
  if (is_whole) return static_cast<std::int64_t>(value);
  const char* const end = write_shortest(buffer.data(), value);
  return std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
}

// Whether a record's values come from a driver, or from the library, which adds up what
// real_sources report.
enum class Origin : std::uint8_t { driver, sum };

Failure make_implausible_failure(Source source, std::string_view name, double value,
                                 std::initializer_list<Piece> explanation,
                                 Origin origin = Origin::driver) {
  std::array<char, 32> digits;
  std::array<char, 96> buffer;
  return {
      Status::backend,
      source,
      {},
      {origin == Origin::driver ? "the driver reported " : "what the driver reported adds up to ",
       name, " ", format_number(value, digits), compose_into(buffer, explanation), ": implausible"},
      Reason::implausible};
}

// `owner` names the thing whose limit it is; "": the limit is absolute.
Failure make_out_of_range(const Range& range, Source source, std::string_view name, double value,
                          std::string_view owner, Origin origin = Origin::driver) {
  std::array<char, 32> digits;
  const bool is_below = value < range.min;
  return make_implausible_failure(source, name, value,
                                  {is_below ? ", below " : ", above ", owner,
                                   format_number(is_below ? range.min : range.max, digits)},
                                  origin);
}

constexpr bool is_link_width(double lanes) noexcept {
  constexpr std::uint64_t widths = 0x100011116;  // 1, 2, 4, 8, 12, 16, 32
  return (widths >> static_cast<unsigned>(lanes) & 1U) != 0;
}

std::optional<Failure> check_value(const Limit& limit, Range range, Source source,
                                   std::string_view name, double value, std::string_view owner,
                                   Origin origin = Origin::driver) {
  if (value == 0 && !limit.allows_zero) {
    return make_implausible_failure(source, name, value, {", a placeholder without a value"});
  }
  if (value == 0) range.min = std::min(range.min, 0.0);
  if (!is_in_range(value, range))
    return make_out_of_range(range, source, name, value, owner, origin);
  if (limit.quantity == Quantity::lanes && !is_link_width(value)) {
    return make_implausible_failure(source, name, value, {", which no link has"});
  }
  return std::nullopt;
}

struct Whole {
  std::string_view name;
  std::optional<double> size;
  bool is_implausible = false;  // then its parts are too, since they came with it
};

void check_fields(FieldList fields, const RecordRules& rules, void* record, Source source,
                  Whole whole, DropHandler report, Origin origin) {
  for (const Field& field : fields) {
    const Quantity quantity = field_quantity(field, rules);
    if (quantity == Quantity::none) continue;
    const bool is_whole = (field.bit & rules.wholes) != 0;
    if (is_whole) whole = {};
    const std::optional<double> value = to_double(field.get(record));
    if (!value) continue;
    const bool is_part = (field.bit & rules.parts) != 0 && whole.size;
    const bool is_implausible_part = (field.bit & rules.parts) != 0 && whole.is_implausible;
    const CommonRange& common = common_ranges[static_cast<std::size_t>(quantity)];
    if (common.contains(*value) && !is_implausible_part && !(is_part && *value > *whole.size)) {
      if (is_whole) whole = {"the total of ", value};
      continue;
    }
    const Limit& limit = find_limit(quantity, source);
    Range range{limit.min, limit.max};
    if (is_part) range.max = std::min(range.max, *whole.size);
    auto failure =
        check_value(limit, range, source, field.key, *value, is_part ? whole.name : "", origin);
    if (!failure && is_implausible_part) {
      failure = make_implausible_failure(source, field.key, *value, {" of a total that cannot be"});
    }
    if (failure) {
      report(field.bit, *failure);
      clear_fields(fields, field.bit, record);
      whole.is_implausible = whole.is_implausible || is_whole;
    } else if (is_whole) {
      whole = {"the total of ", value};
    }
  }
}

template <class Record>
void check_record(Record& record, const RecordRules& rules, Whole whole, DropHandler report,
                  Origin origin = Origin::driver) {
  check_fields(record_fields<Record>(), rules, &record, record.source, whole, report, origin);
}

Quantity metric_quantity(const Metric& metric) noexcept {
  using enum MetricId;
  switch (metric.id) {
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
      return metric.instance == metric_instance::power_limit::min ? Quantity::min_watts_limit
                                                                  : Quantity::watts_limit;
    case energy_joules:
      return Quantity::joules;
    case clock_mhz:
      return metric.instance == metric_instance::clock::memory ? Quantity::memory_megahertz
                                                               : Quantity::megahertz;
    case clock_limit_mhz:
      return Quantity::megahertz_limit;
    case voltage:
      return Quantity::volts;
    case ecc_corrected:
    case ecc_uncorrected:
    case pcie_replays:
      return Quantity::errors;
    case rows_remapped:
      return metric.instance == metric_instance::remapping::pending ||
                     metric.instance == metric_instance::remapping::failed
                 ? Quantity::flag
                 : Quantity::remapped_rows;
    default:
      return Quantity::none;
  }
}

// Returns the range that an energy counter can have reached since `previous`, with an extra second
// for the time at which the driver reads it.
Range reachable_range(const EnergyReading& previous, std::uint64_t now_ns) noexcept {
  const double seconds = static_cast<double>(now_ns - previous.time_ns) * 1e-9 + 1;
  return {previous.joules, previous.joules + seconds * max_watts};
}

// Returns whether the memory of the process is the device's. What is only committed need not be,
// but KFD grants no more than there is; of Apple's, some may be compressed or swapped out.
bool is_in_device(const Usage& row) noexcept {
  if (row.source == Source::metal) return false;
  return row.accounting != Accounting::committed || row.source == Source::kfd;
}

// Drops a part that is larger than the process's total, resident or not.
void drop_oversized_part(const std::optional<std::uint64_t>& committed,
                         std::optional<std::uint64_t>& part, const Usage& row, FieldSet field,
                         std::string_view name, DropHandler report) {
  if (!committed || !part || row.source == Source::simulated) return;
  const std::uint64_t total = std::max(*committed, row.used.value_or(0));
  if (*part <= total) return;
  report(field, make_out_of_range({0, static_cast<double>(total)}, row.source, name,
                                  static_cast<double>(*part), "what the process has, "));
  part.reset();
}

// Drops the metrics for which `check` returns a failure.
void drop_failing(std::vector<Metric>& metrics, DropHandler report,
                  FunctionRef<std::optional<Failure>(const Metric&)> check) {
  std::erase_if(metrics, [&](const Metric& metric) {
    const auto failure = check(metric);
    if (failure) report(missing_metric(metric.id, metric.instance), *failure);
    return failure.has_value();
  });
}

}  // namespace

std::optional<Failure> EnergyCounter::check_reading(Source source, std::string_view name,
                                                    double joules, std::uint64_t now_ns,
                                                    std::uint64_t start_ns) {
  const EnergyReading reading{joules, now_ns};
  const Range range = reachable_range(last, now_ns);
  const bool is_plausible = last.time_ns == 0 || is_in_range(joules, range);
  const bool was_suspect = suspect.time_ns != 0 && suspect.time_ns < start_ns;
  if (is_plausible || (was_suspect && is_in_range(joules, reachable_range(suspect, now_ns)))) {
    last = reading;
    suspect = {};
    return std::nullopt;
  }
  suspect = reading;
  return make_out_of_range(range, source, name, joules, "what follows the last reading, ");
}

void drop_implausible(Device& device, DropHandler report) {
  if (device.memory_total) {
    const Limit& limit = find_limit(Quantity::device_total, device.source);
    // Reading the device's memory reports it.
    if (check_value(limit, {limit.min, limit.max}, device.source, "",
                    static_cast<double>(*device.memory_total), "")) {
      device.memory_total.reset();
    }
  }
  // The address of the host's own bridge, or of no domain. Sources that read the bus report what is
  // on it.
  constexpr std::uint32_t bus_sources =
      source_mask({Source::nvml, Source::nvidia_smi, Source::amd_smi, Source::rocm_smi});
  const auto address = parse_pci_address(device.pci_bus_id.view());
  const bool is_none = address == PciAddress{} || (address && address->domain == UINT32_MAX);
  if ((bus_sources & source_mask({device.source})) == 0 || !is_none) return;
  report(device_field::pci_bus_id,
         {Status::backend,
          device.source,
          {},
          {"the driver reported pci_bus_id ", device.pci_bus_id.view(), ": implausible"},
          Reason::implausible});
  device.pci_bus_id = {};
}

void drop_implausible(Pool& pool, DropHandler report, std::optional<std::uint64_t> max_total) {
  // Free memory that the driver does not report follows from the used.
  const auto report_dropped = [&](FieldSet field, const Failure& failure) {
    if (field == pool_field::used && !pool.free) field |= pool_field::free;
    report(field, failure);
  };
  // A lower bound is the sum of what listed processes use.
  const bool is_sum = (pool.notes & note::lower_bound) != 0;
  check_record(pool, pool_rules, {}, report_dropped, is_sum ? Origin::sum : Origin::driver);
  if (pool.total && max_total && *pool.total > *max_total + rounding) {
    const Failure failure = make_out_of_range({0, static_cast<double>(*max_total)}, pool.source,
                                              "total_bytes", static_cast<double>(*pool.total),
                                              "what its GPU and its other instances leave, ");
    constexpr FieldSet fields = pool_rules.wholes | pool_rules.parts;
    report_dropped(present_bits(pool, fields), failure);
    clear_fields(fields, pool);
  }
  if (!pool.total || !pool.free || !pool.used || *pool.free + *pool.used <= *pool.total + rounding)
    return;
  const Range range{0, static_cast<double>(*pool.total)};
  // Nothing shows which of the two is true.
  report_dropped(pool_field::used | pool_field::free,
                 make_out_of_range(range, pool.source, "free_bytes + used_bytes",
                                   static_cast<double>(*pool.free + *pool.used), "the total of ",
                                   Origin::sum));
  pool.used.reset();
  pool.free.reset();
}

void drop_implausible(Telemetry& telemetry, DropHandler report) {
  check_record(telemetry, telemetry_rules, {}, report);
}

void drop_implausible(Usage& row, std::optional<std::uint64_t> total, DropHandler report) {
  Whole whole{"the device's ", {}};
  if (total && is_in_device(row)) whole.size = static_cast<double>(*total);
  const bool is_sum = row.clients && row.clients->count > 1;
  check_record(row, usage_rules, whole, report, is_sum ? Origin::sum : Origin::driver);
  drop_oversized_part(row.committed, row.shared, row, usage_field::shared, "shared_bytes", report);
  drop_oversized_part(row.committed, row.purgeable, row, usage_field::purgeable, "purgeable_bytes",
                      report);
}

void drop_implausible(SystemMemory& memory, DropHandler report) {
  check_record(memory, system_memory_rules, {}, report);
}

void drop_implausible(std::vector<Metric>& metrics, DropHandler report) {
  drop_failing(metrics, report, [](const Metric& metric) -> std::optional<Failure> {
    const Quantity quantity = metric_quantity(metric);
    const MetricInfo* const info = find_metric_info(static_cast<std::uint32_t>(metric.id));
    if (quantity == Quantity::none || info == nullptr || (!metric.value && !metric.count))
      return {};
    const Limit& limit = find_limit(quantity, metric.source);
    const double value = metric.value ? *metric.value : static_cast<double>(*metric.count);
    return check_value(limit, {limit.min, limit.max}, metric.source, info->name, value, "");
  });
}

std::optional<Failure> check_time(Source source, std::string_view name, std::uint64_t unix_ns,
                                  std::uint64_t now_ns) {
  // Drivers' clocks may be slightly ahead of the system's.
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (unix_ns <= now_ns || unix_ns - now_ns <= ns_per_second) return std::nullopt;
  return Failure{Status::backend,
                 source,
                 {},
                 {"the driver reported ", name, " of a time ", (unix_ns - now_ns) / ns_per_second,
                  " s in the future: implausible"},
                 Reason::implausible};
}

namespace {

// Returns the counter that a source's telemetry has, which may be one of its metrics.
EnergyCounter& find_counter(Source source, EnergyHistory& history) noexcept {
  constexpr std::uint32_t device_sources = source_mask({Source::nvml, Source::drm});
  constexpr std::uint32_t package_sources = source_mask({Source::amd_smi, Source::rocm_smi});
  if ((device_sources & source_mask({source})) != 0)
    return history.counters[metric_instance::power_reading::unknown];
  if ((package_sources & source_mask({source})) != 0)
    return history.counters[metric_instance::power_reading::package];
  return history.counters.back();
}

}  // namespace

void drop_jumps(Telemetry& telemetry, EnergyHistory& history, std::uint64_t now_ns,
                DropHandler report) {
  if (!telemetry.energy_joules) return;
  const auto failure = find_counter(telemetry.source, history)
                           .check_reading(telemetry.source, "energy_joules",
                                          *telemetry.energy_joules, now_ns, history.start_ns);
  if (!failure) return;
  report(telemetry_field::energy_joules, *failure);
  telemetry.energy_joules.reset();
}

void drop_jumps(std::vector<Metric>& metrics, EnergyHistory& history, std::uint64_t now_ns,
                DropHandler report) {
  drop_failing(metrics, report, [&](const Metric& metric) -> std::optional<Failure> {
    if (metric.id != MetricId::energy_joules || !metric.value ||
        metric.instance >= history.counters.size() - 1)
      return {};
    return history.counters[metric.instance].check_reading(metric.source, "energy_joules",
                                                           *metric.value, now_ns, history.start_ns);
  });
}

}  // namespace hmn
