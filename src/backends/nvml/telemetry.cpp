// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <algorithm>
#include <array>

#include "backends/shared/nvidia/throttle.hpp"
#include "model/message_text.hpp"
#include "model/scale.hpp"

namespace hmn::nvml {

namespace engine = which::engine;
namespace sensor = which::sensor;
namespace power_reading = which::power_reading;
namespace power_limit = which::power_limit;
namespace clock = which::clock;
namespace era = which::era;
namespace remapping = which::remapping;

struct MetricReader::FieldRow {
  std::uint32_t field;
  MetricId id;
  std::uint32_t instance;
  Scale unit;                // a_count: a count
  std::uint64_t factor = 1;  // of a count
};

namespace {

namespace field = telemetry_field;

constexpr Scale a_count{1, 0};
constexpr std::size_t most_fields = 8;  // in one call of nvmlDeviceGetFieldValues
constexpr std::uint32_t first_link = 1;
constexpr unsigned most_fans = 16;
constexpr unsigned most_links = 32;
constexpr std::uint64_t most_errors = std::uint64_t{1} << 62;

struct ClockRow {
  unsigned reported;
  std::uint32_t instance;
};

constexpr std::array clocks_known{
    ClockRow{clock_graphics, clock::core}, ClockRow{clock_sm, clock::sm},
    ClockRow{clock_memory, clock::memory}, ClockRow{clock_video, clock::video}};

struct ThresholdRow {
  unsigned reported;
  MetricId id;
  std::uint32_t instance;
};

constexpr std::array thresholds_known{
    ThresholdRow{threshold_shutdown, MetricId::temperature_shutdown, sensor::core},
    ThresholdRow{threshold_slowdown, MetricId::temperature_limit, sensor::core},
    ThresholdRow{threshold_memory, MetricId::temperature_limit, sensor::memory}};

// nvmlMemoryErrorType_t and nvmlEccCounterType_t
constexpr std::array ecc_ids{MetricId::ecc_corrected, MetricId::ecc_uncorrected};
constexpr std::array ecc_eras{era::since_load, era::lifetime};

constexpr unsigned most_events = 256;  // per reading; the next one continues

}  // namespace

Result<void> TelemetryReader::read() {
  read_utilization();
  set(out_.encoder_busy_percent, engine(field::encoder_busy_percent, s_.fn.encoder));
  set(out_.decoder_busy_percent, engine(field::decoder_busy_percent, s_.fn.decoder));
  set(out_.temperature_celsius, celsius(field::temperature_celsius));
  set(out_.memory_celsius, memory_celsius());
  set(out_.power_watts, watts(field::power_watts, s_.fn.power));
  set(out_.power_limit_watts, watts(field::power_limit_watts, s_.fn.power_limit));
  set(out_.energy_joules, joules(field::energy_joules));
  set(out_.core_clock_mhz, indexed(field::core_clock_mhz, s_.fn.clock, clock_graphics));
  set(out_.memory_clock_mhz, indexed(field::memory_clock_mhz, s_.fn.clock, clock_memory));
  set(out_.fan_percent, fan_percent());
  set(out_.pcie_generation, number(field::pcie_generation, s_.fn.pcie_generation));
  set(out_.pcie_width, number(field::pcie_width, s_.fn.pcie_width));
  set(out_.p_state, p_state());
  set(out_.throttle, throttle());
  refuse_what_nvml_lacks();
  out_.from = Source::nvml;
  if (!any_) return failure_for(first_code_ == success ? not_offered : first_code_, first_from_);
  out_.sources |= bit_of(Source::nvml);
  return {};
}

void TelemetryReader::read_utilization() {
  constexpr std::uint32_t gpu = field::gpu_busy_percent;
  constexpr std::uint32_t memory = field::memory_busy_percent;
  Utilization reported{};
  if (!get(gpu | memory, s_.fn.utilization, &reported)) return;
  any_ = true;
  if (wants(gpu)) out_.gpu_busy_percent = reported.gpu;
  if (wants(memory)) out_.memory_busy_percent = reported.memory;
}

std::optional<unsigned> TelemetryReader::engine(FieldSet bit, const PercentCall& from) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(bit, from, &percent, &period_us)) return std::nullopt;
  return percent;
}

std::optional<double> TelemetryReader::memory_celsius() {
  FieldValue reported{};
  reported.id = field_memory_temperature;
  if (!get_field(field::memory_celsius, reported)) return std::nullopt;
  // Boards without the sensor report 0.
  if (const double celsius = number_of(reported); celsius != 0) return celsius;
  refuse(Status::unsupported, s_.fn.fields.name(), "no memory temperature", field::memory_celsius);
  return std::nullopt;
}

std::optional<double> TelemetryReader::watts(FieldSet bit, const NumberCall& from) {
  const auto milliwatts = number(bit, from);
  if (!milliwatts) return std::nullopt;
  return from_milli.of(*milliwatts);
}

std::optional<unsigned> TelemetryReader::fan_percent() {
  if (!wants(field::fan_percent)) return std::nullopt;
  unsigned reported = 0;
  // For a card without fans, querying their speed takes longer than their number.
  if (call(t_, s_.fn.fan_count, of_.h, &reported) == success && reported == 0) {
    take(not_offered, s_.fn.fan_count, field::fan_percent);
    return std::nullopt;
  }
  const Code c = call(t_, s_.fn.fan, of_.h, &reported);
  if (has_no_function(c) && s_.fn.fan_of) return indexed(field::fan_percent, s_.fn.fan_of, 0);
  if (!take(c, s_.fn.fan, field::fan_percent)) return std::nullopt;
  return reported;
}

std::optional<unsigned> TelemetryReader::p_state() {
  const auto reported = number(field::p_state, s_.fn.p_state);
  if (reported != p_state_unknown) return reported;
  refuse(Status::empty, s_.fn.p_state.name(), "the driver does not know it now", field::p_state);
  return std::nullopt;
}

std::optional<std::uint32_t> TelemetryReader::throttle() {
  const auto reasons = wide_number(field::throttle, s_.fn.clock_reasons);
  if (!reasons) return std::nullopt;
  const auto bits = nvidia::throttle_bits(*reasons);
  if (!bits) refuse_value(s_.fn.clock_reasons, field::throttle);
  return bits;
}

// NVML reports no averaging times, and its PCIe byte counters wrap.
void TelemetryReader::refuse_what_nvml_lacks() {
  constexpr std::uint32_t lacking = field::hotspot_celsius | field::fan_rpm | field::pcie_rx_bytes |
                                    field::pcie_tx_bytes | field::window_ns;
  if (wants(lacking)) {
    refuse(Status::unsupported, "NVML", "it has no such value in a form that can be trusted",
           lacking);
  }
}

std::uint64_t WideCounts::widen(std::uint64_t session, Slot number, std::uint32_t field,
                                std::uint32_t reported) {
  if (session != session_) entries_.clear();
  session_ = session;
  for (Entry& e : entries_) {
    if (e.number != number || e.field != field) continue;
    e.total += static_cast<std::uint32_t>(reported - static_cast<std::uint32_t>(e.total));
    return e.total;
  }
  entries_.push_back({number, field, reported});
  return reported;
}

void MetricReader::read(bool slow) {
  constexpr FieldRow rows[] = {
      {field_memory_temperature, MetricId::temperature, sensor::memory, as_is},
      {field_power_instant, MetricId::power_watts, power_reading::instant, from_milli},
      {field_pcie_rx, MetricId::pcie_rx_bytes, 0, a_count},
      {field_pcie_tx, MetricId::pcie_tx_bytes, 0, a_count},
      {field_throttled_by_power, MetricId::throttle_ns, throttle::power, a_count},
      {field_throttled_by_heat, MetricId::throttle_ns, throttle::thermal, a_count},
      {field_throttled_by_sync, MetricId::throttle_ns, throttle::setting, a_count},
      {field_throttled_by_board, MetricId::throttle_ns, throttle::other, a_count},
  };
  static_assert(std::size(rows) == most_fields);
  // These take the driver some milliseconds.
  constexpr FieldRow slow_rows[] = {
      {field_power_average, MetricId::power_watts, power_reading::average, from_milli}};
  read_fault();
  read_load();
  read_temperatures();
  read_power();
  read_clocks();
  read_fans();
  read_errors();
  read_fields(rows);
  if (!slow) return;
  read_fields(slow_rows);
  read_links();
}

Metric* MetricReader::add(MetricId id, std::uint32_t instance, double value) {
  return &out_.emplace_back(measured(Source::nvml, id, instance, value));
}

Metric* MetricReader::count(MetricId id, std::uint32_t instance, std::uint64_t reported) {
  return &out_.emplace_back(counted(Source::nvml, id, instance, reported));
}

void MetricReader::count_of(const NamedSymbol& from, MetricId id, std::uint32_t instance,
                            std::uint64_t reported, std::uint64_t most) {
  if (reported > most) return refuse_value(from, missing_metric(id, instance));
  count(id, instance, reported);
}

void MetricReader::add_number(const NumberCall& from, MetricId id, std::uint32_t instance,
                              Scale unit) {
  if (const auto reported = number(missing_metric(id, instance), from))
    add(id, instance, unit.of(*reported));
}

void MetricReader::add_indexed(const IndexedCall& from, unsigned n, MetricId id,
                               std::uint32_t instance) {
  if (const auto reported = indexed(missing_metric(id, instance), from, n))
    add(id, instance, *reported);
}

void MetricReader::add_engine(const PercentCall& from, std::uint32_t engine) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(missing_metric(MetricId::engine_percent, engine), from, &percent, &period_us)) return;
  Metric* const m = add(MetricId::engine_percent, engine, percent);
  if (period_us != 0) m->window_ns = period_us * ns_per_us;
}

// Read first: the fault that makes other values fail is reported with them. Code gpu_is_lost may be
// about another GPU.
void MetricReader::read_fault() {
  constexpr MetricId id = MetricId::last_fault;
  constexpr auto field = missing_metric(id);
  const auto [c, from, last] = faults_.read(t_, of_);
  const bool has_number = last && last != xid_without_number;
  if (has_number) count(id, 0, *last);
  if (c == gpu_is_lost) return t_.missing(c, from->name(), field);
  if (!take(c, *from, field) || has_number) return;
  const char* const why =
      last ? ": a fault to which NVML gives no number"
           : ": no fault since this context first asked; NVML reports no earlier one";
  t_.report(last ? Status::backend : Status::unsupported, {from->name(), why}, field);
}

void MetricReader::read_load() {
  Utilization reported{};
  if (get(missing_metric(MetricId::engine_percent), s_.fn.utilization, &reported)) {
    add(MetricId::engine_percent, engine::unknown, reported.gpu);
    add(MetricId::engine_percent, engine::memory, reported.memory);
  }
  add_engine(s_.fn.encoder, engine::encode);
  add_engine(s_.fn.decoder, engine::decode);
}

void MetricReader::read_temperatures() {
  if (const auto core = celsius(missing_metric(MetricId::temperature, sensor::core))) {
    add(MetricId::temperature, sensor::core, *core);
  }
  for (const ThresholdRow& row : thresholds_known) {
    add_indexed(s_.fn.threshold, row.reported, row.id, row.instance);
  }
}

void MetricReader::read_power() {
  add_number(s_.fn.power, MetricId::power_watts, power_reading::unknown, from_milli);
  constexpr MetricId limit = MetricId::power_limit_watts;
  add_number(s_.fn.power_limit, limit, power_limit::current, from_milli);
  add_number(s_.fn.default_power_limit, limit, power_limit::default_limit, from_milli);
  unsigned least = 0;
  unsigned most = 0;
  if (get(missing_metric(limit), s_.fn.power_limits, &least, &most)) {
    if (least > most) {
      refuse_value(s_.fn.power_limits, missing_metric(limit));
    } else {
      add(limit, power_limit::min, from_milli.of(least));
      add(limit, power_limit::max, from_milli.of(most));
    }
  }
  if (const auto used = joules(missing_metric(MetricId::energy_joules, power_reading::unknown))) {
    add(MetricId::energy_joules, power_reading::unknown, *used);
  }
}

void MetricReader::read_clocks() {
  for (const ClockRow& row : clocks_known) {
    add_indexed(s_.fn.clock, row.reported, MetricId::clock_mhz, row.instance);
  }
  if (t_.r.is_quick())
    return t_.left_out(s_.fn.max_clock, missing_metric(MetricId::clock_limit_mhz));
  for (const ClockRow& row : clocks_known) {
    add_indexed(s_.fn.max_clock, row.reported, MetricId::clock_limit_mhz, row.instance);
  }
}

void MetricReader::read_fans() {
  const unsigned fans = number(missing_metric(MetricId::fan_percent), s_.fn.fan_count).value_or(0);
  for (unsigned n = 0; n < std::min(fans, most_fans); ++n) {
    add_indexed(s_.fn.fan_of, n, MetricId::fan_percent, n + 1);
  }
}

void MetricReader::read_errors() {
  if (const auto replays = number(missing_metric(MetricId::pcie_replays), s_.fn.pcie_replays)) {
    count_of(s_.fn.pcie_replays, MetricId::pcie_replays, 0, *replays, UINT32_MAX - 1);
  }
  for (unsigned type = 0; type < ecc_ids.size(); ++type) {
    for (unsigned counter = 0; counter < ecc_eras.size(); ++counter) {
      unsigned long long errors = 0;
      if (!get(missing_metric(ecc_ids[type], ecc_eras[counter]), s_.fn.ecc_errors, type, counter,
               &errors))
        continue;
      count_of(s_.fn.ecc_errors, ecc_ids[type], ecc_eras[counter], errors, most_errors);
    }
  }
  constexpr MetricId remapped = MetricId::rows_remapped;
  unsigned rows[4] = {};
  const auto& from = s_.fn.remapped_rows;
  if (!get(missing_metric(remapped), from, &rows[0], &rows[1], &rows[2], &rows[3])) return;
  for (unsigned n = 0; n < 4; ++n) {
    count(remapped, remapping::corrected + n, rows[n]);
  }
}

void MetricReader::take_field(const FieldRow& row, const FieldValue& reported,
                              std::uint32_t instance) {
  if (!take_field_value(reported, missing_metric(row.id, instance))) return;
  if (row.unit.over == a_count.over) {
    if (!is_small(reported)) {
      count(row.id, instance, reported.bits * row.factor);
      return;
    }
    const std::uint32_t key = row.field | instance << 16;
    const auto low = static_cast<std::uint32_t>(reported.bits);
    Metric* const m =
        count(row.id, instance, wide_.widen(s_.number(), *t_.device, key, low) * row.factor);
    m->notes |= note::lower_bound;
    return;
  }
  const double value = number_of(reported);
  // Boards without the sensor report 0.
  if (row.id == MetricId::temperature && value == 0) {
    return t_.missing(not_offered, s_.fn.fields.name(), missing_metric(row.id, instance));
  }
  add(row.id, instance, row.unit.of(value));
}

void MetricReader::read_fields(std::span<const FieldRow> rows, std::uint32_t link) {
  std::array<FieldValue, most_fields> reported{};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    reported[n].id = rows[n].field;
    reported[n].scope = link;
  }
  const Code c = call(t_, s_.fn.fields, of_.h, static_cast<int>(rows.size()), reported.data());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::uint32_t instance = rows[n].instance + link;
    if (!take(c, s_.fn.fields, missing_metric(rows[n].id, instance))) continue;
    take_field(rows[n], reported[n], instance);
  }
}

void MetricReader::read_links() {
  constexpr FieldRow rows[] = {
      {field_link_rx, MetricId::link_rx_bytes, first_link, a_count, 1024},
      {field_link_tx, MetricId::link_tx_bytes, first_link, a_count, 1024},
  };
  FieldValue links{};
  links.id = field_link_count;
  Code c = call(t_, s_.fn.fields, of_.h, 1, &links);
  if (c == success) c = outcome_of(links);
  for (const FieldRow& row : rows) take(c, s_.fn.fields, missing_metric(row.id));
  if (c != success) return;
  const auto count = std::min<std::uint64_t>(links.bits, most_links);
  for (std::uint32_t link = 0; link < count && ended_by() == success; ++link) {
    read_fields(rows, link);
  }
}

FaultWatch::Answer FaultWatch::read(const Topic& t, const KnownDevice& of) {
  KnownFaults& w = devices_.find(of.identity.number)->faults;
  if (w.h != of.h) w.session = 0;
  w.h = of.h;
  if (w.session != s_.number()) begin(t, w);
  if (w.result != success) return {w.result, w.from, w.last};
  const Code c = take_down(t);
  return {c, &s_.fn.wait_for_event, w.last};
}

void FaultWatch::begin(const Topic& t, KnownFaults& w) {
  w.session = s_.number();
  unsigned long long types = 0;
  w.from = &s_.fn.event_types;
  w.result = call(t, s_.fn.event_types, w.h, &types);
  if (w.result == success && (types & event_xid) == 0) w.result = not_offered;
  if (w.result == success) w.result = enter(t, w);
  if (w.result == late) w.session = 0;
}

Code FaultWatch::enter(const Topic& t, KnownFaults& w) {
  if (s_.events == nullptr) {
    w.from = &s_.fn.create_events;
    if (const Code c = call(t, s_.fn.create_events, &s_.events); c != success) return c;
  }
  w.from = &s_.fn.register_events;
  const unsigned long long types = event_xid;
  const Code c = call(t, s_.fn.register_events, w.h, types, s_.events);
  if (c != unknown) return c;
  // According to NVML's documentation, event sets are then unusable.
  s_.free_events();
  for (KnownDevice& other : devices_.all()) {
    if (&other.faults != &w) other.faults.session = 0;
  }
  return c;
}

Code FaultWatch::take_down(const Topic& t) {
  Code c = s_.events != nullptr ? success : timed_out;
  for (unsigned n = 0; n < most_events && c == success; ++n) {
    EventData reported{};
    const unsigned at_once = 0;
    c = call(t, s_.fn.wait_for_event, s_.events, &reported, at_once);
    if (c == success) take_down(reported);
  }
  return c == timed_out ? success : c;
}

void FaultWatch::take_down(const EventData& reported) noexcept {
  if ((reported.type & event_xid) == 0) return;
  for (KnownDevice& d : devices_.all()) {
    KnownFaults& w = d.faults;
    if (w.h == reported.device && w.session == s_.number()) w.last = reported.data;
  }
}

}  // namespace hmn::nvml
