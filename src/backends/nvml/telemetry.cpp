// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <algorithm>
#include <array>

#include "backends/shared/nvidia/throttle.hpp"
#include "model/message_text.hpp"
#include "model/scale.hpp"

namespace hmn::nvml {

namespace engine = metric_instance::engine;
namespace sensor = metric_instance::sensor;
namespace power_reading = metric_instance::power_reading;
namespace power_limit = metric_instance::power_limit;
namespace clock = metric_instance::clock;
namespace era = metric_instance::era;
namespace remapping = metric_instance::remapping;

struct MetricReader::FieldRow {
  std::uint32_t field;
  MetricId id;
  std::uint32_t instance;
  Scale unit;                // count_scale: a count
  std::uint64_t factor = 1;  // of a count
};

namespace {

namespace field = telemetry_field;

constexpr Scale count_scale{1, 0};
constexpr std::size_t max_fields = 8;  // in one call of nvmlDeviceGetFieldValues
constexpr std::uint32_t first_link = 1;
constexpr unsigned max_fans = 16;
constexpr unsigned max_links = 32;
constexpr std::uint64_t max_errors = std::uint64_t{1} << 62;

struct ClockRow {
  unsigned nvml_clock;
  std::uint32_t instance;
};

constexpr std::array known_clocks{
    ClockRow{clock_graphics, clock::core}, ClockRow{clock_sm, clock::sm},
    ClockRow{clock_memory, clock::memory}, ClockRow{clock_video, clock::video}};

struct ThresholdRow {
  unsigned nvml_threshold;
  MetricId id;
  std::uint32_t instance;
};

constexpr std::array known_thresholds{
    ThresholdRow{threshold_shutdown, MetricId::temperature_shutdown, sensor::core},
    ThresholdRow{threshold_slowdown, MetricId::temperature_limit, sensor::core},
    ThresholdRow{threshold_memory, MetricId::temperature_limit, sensor::memory}};

// nvmlMemoryErrorType_t and nvmlEccCounterType_t
constexpr std::array ecc_ids{MetricId::ecc_corrected, MetricId::ecc_uncorrected};
constexpr std::array ecc_eras{era::since_load, era::lifetime};

constexpr unsigned max_events = 256;  // per reading; the next one continues

}  // namespace

Result<void> TelemetryReader::read() {
  read_utilization();
  set(telemetry_.encoder_busy_percent,
      read_engine(field::encoder_busy_percent, session_.fn.encoder));
  set(telemetry_.decoder_busy_percent,
      read_engine(field::decoder_busy_percent, session_.fn.decoder));
  set(telemetry_.temperature_celsius, read_celsius(field::temperature_celsius));
  set(telemetry_.memory_celsius, read_memory_celsius());
  set(telemetry_.power_watts, read_watts(field::power_watts, session_.fn.power));
  set(telemetry_.power_limit_watts, read_watts(field::power_limit_watts, session_.fn.power_limit));
  set(telemetry_.energy_joules, read_joules(field::energy_joules));
  set(telemetry_.core_clock_mhz,
      read_indexed(field::core_clock_mhz, session_.fn.clock, clock_graphics));
  set(telemetry_.memory_clock_mhz,
      read_indexed(field::memory_clock_mhz, session_.fn.clock, clock_memory));
  set(telemetry_.fan_percent, read_fan_percent());
  set(telemetry_.pcie_generation, read_number(field::pcie_generation, session_.fn.pcie_generation));
  set(telemetry_.pcie_width, read_number(field::pcie_width, session_.fn.pcie_width));
  set(telemetry_.p_state, read_p_state());
  set(telemetry_.throttle, read_throttle());
  report_unsupported_fields();
  telemetry_.source = Source::nvml;
  if (!has_any_)
    return make_failure(first_code_ == success ? not_offered : first_code_, first_function_);
  telemetry_.sources |= source_bit(Source::nvml);
  return {};
}

void TelemetryReader::read_utilization() {
  constexpr std::uint32_t gpu = field::gpu_busy_percent;
  constexpr std::uint32_t memory = field::memory_busy_percent;
  Utilization utilization{};
  if (!get(gpu | memory, session_.fn.utilization, &utilization)) return;
  has_any_ = true;
  if (wants(gpu)) telemetry_.gpu_busy_percent = utilization.gpu;
  if (wants(memory)) telemetry_.memory_busy_percent = utilization.memory;
}

std::optional<unsigned> TelemetryReader::read_engine(FieldSet bit, const PercentCall& function) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(bit, function, &percent, &period_us)) return std::nullopt;
  return percent;
}

std::optional<double> TelemetryReader::read_memory_celsius() {
  FieldValue value{};
  value.id = field_memory_temperature;
  if (!read_field(field::memory_celsius, value)) return std::nullopt;
  // Boards without the sensor report 0.
  if (const double celsius = to_number(value); celsius != 0) return celsius;
  refuse(Status::unsupported, session_.fn.fields.name(), "no memory temperature",
         field::memory_celsius);
  return std::nullopt;
}

std::optional<double> TelemetryReader::read_watts(FieldSet bit, const NumberCall& function) {
  const auto milliwatts = read_number(bit, function);
  if (!milliwatts) return std::nullopt;
  return from_milli.apply(*milliwatts);
}

std::optional<unsigned> TelemetryReader::read_fan_percent() {
  if (!wants(field::fan_percent)) return std::nullopt;
  unsigned value = 0;
  // For a card without fans, querying their speed takes longer than their number.
  if (call(context_, session_.fn.fan_count, device_.handle, &value) == success && value == 0) {
    check_code(not_offered, session_.fn.fan_count, field::fan_percent);
    return std::nullopt;
  }
  const Code code = call(context_, session_.fn.fan, device_.handle, &value);
  if (has_no_function(code) && session_.fn.fan_of)
    return read_indexed(field::fan_percent, session_.fn.fan_of, 0);
  if (!check_code(code, session_.fn.fan, field::fan_percent)) return std::nullopt;
  return value;
}

std::optional<unsigned> TelemetryReader::read_p_state() {
  const auto value = read_number(field::p_state, session_.fn.p_state);
  if (value != p_state_unknown) return value;
  refuse(Status::empty, session_.fn.p_state.name(), "the driver does not know it now",
         field::p_state);
  return std::nullopt;
}

std::optional<std::uint32_t> TelemetryReader::read_throttle() {
  const auto reasons = read_wide_number(field::throttle, session_.fn.clock_reasons);
  if (!reasons) return std::nullopt;
  const auto bits = nvidia::convert_throttle(*reasons);
  if (!bits) refuse_value(session_.fn.clock_reasons, field::throttle);
  return bits;
}

// NVML reports no averaging times, and its PCIe byte counters wrap.
void TelemetryReader::report_unsupported_fields() {
  constexpr std::uint32_t unsupported_fields = field::hotspot_celsius | field::fan_rpm |
                                               field::pcie_rx_bytes | field::pcie_tx_bytes |
                                               field::window_ns;
  if (wants(unsupported_fields)) {
    refuse(Status::unsupported, "NVML", "it has no such value in a form that can be trusted",
           unsupported_fields);
  }
}

std::uint64_t WideCounters::widen(std::uint64_t session, Slot slot, std::uint32_t field,
                                  std::uint32_t value) {
  if (session != session_) entries_.clear();
  session_ = session;
  for (Entry& entry : entries_) {
    if (entry.slot != slot || entry.field != field) continue;
    entry.total += static_cast<std::uint32_t>(value - static_cast<std::uint32_t>(entry.total));
    return entry.total;
  }
  entries_.push_back({slot, field, value});
  return value;
}

void MetricReader::read(bool include_slow) {
  constexpr FieldRow rows[] = {
      {field_memory_temperature, MetricId::temperature, sensor::memory, unscaled},
      {field_power_instant, MetricId::power_watts, power_reading::instant, from_milli},
      {field_pcie_rx, MetricId::pcie_rx_bytes, 0, count_scale},
      {field_pcie_tx, MetricId::pcie_tx_bytes, 0, count_scale},
      {field_throttled_by_power, MetricId::throttle_ns, throttle::power, count_scale},
      {field_throttled_by_heat, MetricId::throttle_ns, throttle::thermal, count_scale},
      {field_throttled_by_sync, MetricId::throttle_ns, throttle::setting, count_scale},
      {field_throttled_by_board, MetricId::throttle_ns, throttle::other, count_scale},
  };
  static_assert(std::size(rows) == max_fields);
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
  if (!include_slow) return;
  read_fields(slow_rows);
  read_links();
}

Metric* MetricReader::add(MetricId id, std::uint32_t instance, double value) {
  return &metrics_.emplace_back(make_value_metric(Source::nvml, id, instance, value));
}

Metric* MetricReader::add_count(MetricId id, std::uint32_t instance, std::uint64_t value) {
  return &metrics_.emplace_back(make_count_metric(Source::nvml, id, instance, value));
}

void MetricReader::add_checked_count(const NamedSymbol& function, MetricId id,
                                     std::uint32_t instance, std::uint64_t value,
                                     std::uint64_t max) {
  if (value > max) return refuse_value(function, missing_metric(id, instance));
  add_count(id, instance, value);
}

void MetricReader::add_number(const NumberCall& function, MetricId id, std::uint32_t instance,
                              Scale unit) {
  if (const auto value = read_number(missing_metric(id, instance), function))
    add(id, instance, unit.apply(*value));
}

void MetricReader::add_indexed(const IndexedCall& function, unsigned index, MetricId id,
                               std::uint32_t instance) {
  if (const auto value = read_indexed(missing_metric(id, instance), function, index))
    add(id, instance, *value);
}

void MetricReader::add_engine(const PercentCall& function, std::uint32_t engine) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(missing_metric(MetricId::engine_percent, engine), function, &percent, &period_us))
    return;
  Metric* const metric = add(MetricId::engine_percent, engine, percent);
  if (period_us != 0) metric->window_ns = period_us * ns_per_us;
}

// Read first: the fault that makes other values fail is reported with them. Code gpu_is_lost may be
// about another GPU.
void MetricReader::read_fault() {
  constexpr MetricId id = MetricId::last_fault;
  constexpr auto field = missing_metric(id);
  const auto [code, function, last_fault] = faults_.read(context_, device_);
  const bool has_number = last_fault && last_fault != xid_without_number;
  if (has_number) add_count(id, 0, *last_fault);
  if (code == gpu_is_lost) return context_.report_missing(code, function->name(), field);
  if (!check_code(code, *function, field) || has_number) return;
  const char* const reason =
      last_fault ? ": a fault to which NVML gives no number"
                 : ": no fault since this context first asked; NVML reports no earlier one";
  context_.report(last_fault ? Status::backend : Status::unsupported, {function->name(), reason},
                  field);
}

void MetricReader::read_load() {
  Utilization utilization{};
  if (get(missing_metric(MetricId::engine_percent), session_.fn.utilization, &utilization)) {
    add(MetricId::engine_percent, engine::unknown, utilization.gpu);
    add(MetricId::engine_percent, engine::memory, utilization.memory);
  }
  add_engine(session_.fn.encoder, engine::encode);
  add_engine(session_.fn.decoder, engine::decode);
}

void MetricReader::read_temperatures() {
  if (const auto core = read_celsius(missing_metric(MetricId::temperature, sensor::core))) {
    add(MetricId::temperature, sensor::core, *core);
  }
  for (const ThresholdRow& row : known_thresholds) {
    add_indexed(session_.fn.threshold, row.nvml_threshold, row.id, row.instance);
  }
}

void MetricReader::read_power() {
  add_number(session_.fn.power, MetricId::power_watts, power_reading::unknown, from_milli);
  constexpr MetricId limit = MetricId::power_limit_watts;
  add_number(session_.fn.power_limit, limit, power_limit::current, from_milli);
  add_number(session_.fn.default_power_limit, limit, power_limit::default_limit, from_milli);
  unsigned min_milliwatts = 0;
  unsigned max_milliwatts = 0;
  if (get(missing_metric(limit), session_.fn.power_limits, &min_milliwatts, &max_milliwatts)) {
    if (min_milliwatts > max_milliwatts) {
      refuse_value(session_.fn.power_limits, missing_metric(limit));
    } else {
      add(limit, power_limit::min, from_milli.apply(min_milliwatts));
      add(limit, power_limit::max, from_milli.apply(max_milliwatts));
    }
  }
  if (const auto energy =
          read_joules(missing_metric(MetricId::energy_joules, power_reading::unknown))) {
    add(MetricId::energy_joules, power_reading::unknown, *energy);
  }
}

void MetricReader::read_clocks() {
  for (const ClockRow& row : known_clocks) {
    add_indexed(session_.fn.clock, row.nvml_clock, MetricId::clock_mhz, row.instance);
  }
  if (context_.reading.is_quick())
    return context_.report_skipped(session_.fn.max_clock,
                                   missing_metric(MetricId::clock_limit_mhz));
  for (const ClockRow& row : known_clocks) {
    add_indexed(session_.fn.max_clock, row.nvml_clock, MetricId::clock_limit_mhz, row.instance);
  }
}

void MetricReader::read_fans() {
  const unsigned fan_count =
      read_number(missing_metric(MetricId::fan_percent), session_.fn.fan_count).value_or(0);
  for (unsigned n = 0; n < std::min(fan_count, max_fans); ++n) {
    add_indexed(session_.fn.fan_of, n, MetricId::fan_percent, n + 1);
  }
}

void MetricReader::read_errors() {
  if (const auto replays =
          read_number(missing_metric(MetricId::pcie_replays), session_.fn.pcie_replays)) {
    add_checked_count(session_.fn.pcie_replays, MetricId::pcie_replays, 0, *replays,
                      UINT32_MAX - 1);
  }
  for (unsigned type = 0; type < ecc_ids.size(); ++type) {
    for (unsigned counter = 0; counter < ecc_eras.size(); ++counter) {
      unsigned long long errors = 0;
      if (!get(missing_metric(ecc_ids[type], ecc_eras[counter]), session_.fn.ecc_errors, type,
               counter, &errors))
        continue;
      add_checked_count(session_.fn.ecc_errors, ecc_ids[type], ecc_eras[counter], errors,
                        max_errors);
    }
  }
  constexpr MetricId id = MetricId::rows_remapped;
  unsigned rows[4] = {};
  const auto& function = session_.fn.remapped_rows;
  if (!get(missing_metric(id), function, &rows[0], &rows[1], &rows[2], &rows[3])) return;
  for (unsigned n = 0; n < 4; ++n) {
    add_count(id, remapping::corrected + n, rows[n]);
  }
}

void MetricReader::add_field(const FieldRow& row, const FieldValue& field_value,
                             std::uint32_t instance) {
  if (!check_field_value(field_value, missing_metric(row.id, instance))) return;
  if (row.unit.divisor == count_scale.divisor) {
    if (!is_32_bit(field_value)) {
      add_count(row.id, instance, field_value.bits * row.factor);
      return;
    }
    const std::uint32_t key = row.field | instance << 16;
    const auto low = static_cast<std::uint32_t>(field_value.bits);
    Metric* const metric =
        add_count(row.id, instance,
                  wide_counters_.widen(session_.number(), *context_.device, key, low) * row.factor);
    metric->notes |= note::lower_bound;
    return;
  }
  const double value = to_number(field_value);
  // Boards without the sensor report 0.
  if (row.id == MetricId::temperature && value == 0) {
    return context_.report_missing(not_offered, session_.fn.fields.name(),
                                   missing_metric(row.id, instance));
  }
  add(row.id, instance, row.unit.apply(value));
}

void MetricReader::read_fields(std::span<const FieldRow> rows, std::uint32_t link) {
  std::array<FieldValue, max_fields> values{};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    values[n].id = rows[n].field;
    values[n].scope = link;
  }
  const Code code = call(context_, session_.fn.fields, device_.handle,
                         static_cast<int>(rows.size()), values.data());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::uint32_t instance = rows[n].instance + link;
    if (!check_code(code, session_.fn.fields, missing_metric(rows[n].id, instance))) continue;
    add_field(rows[n], values[n], instance);
  }
}

void MetricReader::read_links() {
  constexpr FieldRow rows[] = {
      {field_link_rx, MetricId::link_rx_bytes, first_link, count_scale, 1024},
      {field_link_tx, MetricId::link_tx_bytes, first_link, count_scale, 1024},
  };
  FieldValue links{};
  links.id = field_link_count;
  Code code = call(context_, session_.fn.fields, device_.handle, 1, &links);
  if (code == success) code = get_outcome(links);
  for (const FieldRow& row : rows) check_code(code, session_.fn.fields, missing_metric(row.id));
  if (code != success) return;
  const auto count = std::min<std::uint64_t>(links.bits, max_links);
  for (std::uint32_t link = 0; link < count && refusal() == success; ++link) {
    read_fields(rows, link);
  }
}

FaultWatch::Answer FaultWatch::read(const CallContext& context, const KnownDevice& device) {
  FaultRecord& record = devices_.find(device.identity.slot)->faults;
  if (record.handle != device.handle) record.session = 0;
  record.handle = device.handle;
  if (record.session != session_.number()) begin_watch(context, record);
  if (record.result != success) return {record.result, record.function, record.last_fault};
  const Code code = collect_events(context);
  return {code, &session_.fn.wait_for_event, record.last_fault};
}

void FaultWatch::begin_watch(const CallContext& context, FaultRecord& record) {
  record.session = session_.number();
  unsigned long long types = 0;
  record.function = &session_.fn.event_types;
  record.result = call(context, session_.fn.event_types, record.handle, &types);
  if (record.result == success && (types & event_xid) == 0) record.result = not_offered;
  if (record.result == success) record.result = register_device(context, record);
  if (record.result == late) record.session = 0;
}

Code FaultWatch::register_device(const CallContext& context, FaultRecord& record) {
  if (session_.events == nullptr) {
    record.function = &session_.fn.create_events;
    if (const Code code = call(context, session_.fn.create_events, &session_.events);
        code != success)
      return code;
  }
  record.function = &session_.fn.register_events;
  const unsigned long long types = event_xid;
  const Code code =
      call(context, session_.fn.register_events, record.handle, types, session_.events);
  if (code != unknown) return code;
  // According to NVML's documentation, event sets are then unusable.
  session_.free_events();
  for (KnownDevice& watched_device : devices_.all()) {
    if (&watched_device.faults != &record) watched_device.faults.session = 0;
  }
  return code;
}

Code FaultWatch::collect_events(const CallContext& context) {
  Code code = session_.events != nullptr ? success : timed_out;
  for (unsigned n = 0; n < max_events && code == success; ++n) {
    EventData event{};
    const unsigned timeout_ms = 0;
    code = call(context, session_.fn.wait_for_event, session_.events, &event, timeout_ms);
    if (code == success) record_event(event);
  }
  return code == timed_out ? success : code;
}

void FaultWatch::record_event(const EventData& event) noexcept {
  if ((event.type & event_xid) == 0) return;
  for (KnownDevice& device : devices_.all()) {
    FaultRecord& record = device.faults;
    if (record.handle == event.device && record.session == session_.number())
      record.last_fault = event.data;
  }
}

}  // namespace hmn::nvml
