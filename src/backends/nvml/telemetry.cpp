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

struct metric_reader::field_row {
  std::uint32_t field;
  metric_id id;
  std::uint32_t instance;
  scale unit;                // a_count: a count
  std::uint64_t factor = 1;  // of a count
};

namespace {

namespace field = telemetry_field;

constexpr scale a_count{1, 0};
constexpr std::size_t most_fields = 8;  // in one call of nvmlDeviceGetFieldValues
constexpr std::uint32_t first_link = 1;
constexpr unsigned most_fans = 16;
constexpr unsigned most_links = 32;
constexpr std::uint64_t most_errors = std::uint64_t{1} << 62;

struct clock_row {
  unsigned reported;
  std::uint32_t instance;
};

constexpr std::array clocks_known{
    clock_row{clock_graphics, clock::core}, clock_row{clock_sm, clock::sm},
    clock_row{clock_memory, clock::memory}, clock_row{clock_video, clock::video}};

struct threshold_row {
  unsigned reported;
  metric_id id;
  std::uint32_t instance;
};

constexpr std::array thresholds_known{
    threshold_row{threshold_shutdown, metric_id::temperature_shutdown, sensor::core},
    threshold_row{threshold_slowdown, metric_id::temperature_limit, sensor::core},
    threshold_row{threshold_memory, metric_id::temperature_limit, sensor::memory}};

// nvmlMemoryErrorType_t and nvmlEccCounterType_t
constexpr std::array ecc_ids{metric_id::ecc_corrected, metric_id::ecc_uncorrected};
constexpr std::array ecc_eras{era::since_load, era::lifetime};

constexpr unsigned most_events = 256;  // per reading; the next one continues

}  // namespace

result<void> telemetry_reader::read() {
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
  out_.from = source::nvml;
  if (!any_) return failure_for(first_code_ == success ? not_offered : first_code_, first_from_);
  out_.sources |= bit_of(source::nvml);
  return {};
}

void telemetry_reader::read_utilization() {
  constexpr std::uint32_t gpu = field::gpu_busy_percent;
  constexpr std::uint32_t memory = field::memory_busy_percent;
  utilization reported{};
  if (!get(gpu | memory, s_.fn.utilization, &reported)) return;
  any_ = true;
  if (wants(gpu)) out_.gpu_busy_percent = reported.gpu;
  if (wants(memory)) out_.memory_busy_percent = reported.memory;
}

std::optional<unsigned> telemetry_reader::engine(FieldSet bit, const percent_call& from) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(bit, from, &percent, &period_us)) return std::nullopt;
  return percent;
}

std::optional<double> telemetry_reader::memory_celsius() {
  field_value reported{};
  reported.id = field_memory_temperature;
  if (!get_field(field::memory_celsius, reported)) return std::nullopt;
  // Boards without the sensor report 0.
  if (const double celsius = number_of(reported); celsius != 0) return celsius;
  refuse(status::unsupported, s_.fn.fields.name(), "no memory temperature", field::memory_celsius);
  return std::nullopt;
}

std::optional<double> telemetry_reader::watts(FieldSet bit, const number_call& from) {
  const auto milliwatts = number(bit, from);
  if (!milliwatts) return std::nullopt;
  return from_milli.of(*milliwatts);
}

std::optional<unsigned> telemetry_reader::fan_percent() {
  if (!wants(field::fan_percent)) return std::nullopt;
  unsigned reported = 0;
  // For a card without fans, querying their speed takes longer than their number.
  if (call(t_, s_.fn.fan_count, of_.h, &reported) == success && reported == 0) {
    take(not_offered, s_.fn.fan_count, field::fan_percent);
    return std::nullopt;
  }
  const code c = call(t_, s_.fn.fan, of_.h, &reported);
  if (has_no_function(c) && s_.fn.fan_of) return indexed(field::fan_percent, s_.fn.fan_of, 0);
  if (!take(c, s_.fn.fan, field::fan_percent)) return std::nullopt;
  return reported;
}

std::optional<unsigned> telemetry_reader::p_state() {
  const auto reported = number(field::p_state, s_.fn.p_state);
  if (reported != p_state_unknown) return reported;
  refuse(status::empty, s_.fn.p_state.name(), "the driver does not know it now", field::p_state);
  return std::nullopt;
}

std::optional<std::uint32_t> telemetry_reader::throttle() {
  const auto reasons = wide_number(field::throttle, s_.fn.clock_reasons);
  if (!reasons) return std::nullopt;
  const auto bits = nvidia::throttle_bits(*reasons);
  if (!bits) refuse_value(s_.fn.clock_reasons, field::throttle);
  return bits;
}

// NVML reports no averaging times, and its PCIe byte counters wrap.
void telemetry_reader::refuse_what_nvml_lacks() {
  constexpr std::uint32_t lacking = field::hotspot_celsius | field::fan_rpm | field::pcie_rx_bytes |
                                    field::pcie_tx_bytes | field::window_ns;
  if (wants(lacking)) {
    refuse(status::unsupported, "NVML", "it has no such value in a form that can be trusted",
           lacking);
  }
}

std::uint64_t wide_counts::widen(std::uint64_t session, slot number, std::uint32_t field,
                                 std::uint32_t reported) {
  if (session != session_) entries_.clear();
  session_ = session;
  for (entry& e : entries_) {
    if (e.number != number || e.field != field) continue;
    e.total += static_cast<std::uint32_t>(reported - static_cast<std::uint32_t>(e.total));
    return e.total;
  }
  entries_.push_back({number, field, reported});
  return reported;
}

void metric_reader::read(bool slow) {
  constexpr field_row rows[] = {
      {field_memory_temperature, metric_id::temperature, sensor::memory, as_is},
      {field_power_instant, metric_id::power_watts, power_reading::instant, from_milli},
      {field_pcie_rx, metric_id::pcie_rx_bytes, 0, a_count},
      {field_pcie_tx, metric_id::pcie_tx_bytes, 0, a_count},
      {field_throttled_by_power, metric_id::throttle_ns, throttle::power, a_count},
      {field_throttled_by_heat, metric_id::throttle_ns, throttle::thermal, a_count},
      {field_throttled_by_sync, metric_id::throttle_ns, throttle::setting, a_count},
      {field_throttled_by_board, metric_id::throttle_ns, throttle::other, a_count},
  };
  static_assert(std::size(rows) == most_fields);
  // These take the driver some milliseconds.
  constexpr field_row slow_rows[] = {
      {field_power_average, metric_id::power_watts, power_reading::average, from_milli}};
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

metric* metric_reader::add(metric_id id, std::uint32_t instance, double value) {
  return &out_.emplace_back(measured(source::nvml, id, instance, value));
}

metric* metric_reader::count(metric_id id, std::uint32_t instance, std::uint64_t reported) {
  return &out_.emplace_back(counted(source::nvml, id, instance, reported));
}

void metric_reader::count_of(const named_symbol& from, metric_id id, std::uint32_t instance,
                             std::uint64_t reported, std::uint64_t most) {
  if (reported > most) return refuse_value(from, missing_metric(id, instance));
  count(id, instance, reported);
}

void metric_reader::add_number(const number_call& from, metric_id id, std::uint32_t instance,
                               scale unit) {
  if (const auto reported = number(missing_metric(id, instance), from))
    add(id, instance, unit.of(*reported));
}

void metric_reader::add_indexed(const indexed_call& from, unsigned n, metric_id id,
                                std::uint32_t instance) {
  if (const auto reported = indexed(missing_metric(id, instance), from, n))
    add(id, instance, *reported);
}

void metric_reader::add_engine(const percent_call& from, std::uint32_t engine) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(missing_metric(metric_id::engine_percent, engine), from, &percent, &period_us)) return;
  metric* const m = add(metric_id::engine_percent, engine, percent);
  if (period_us != 0) m->window_ns = period_us * ns_per_us;
}

// Read first: the fault that makes other values fail is reported with them. Code gpu_is_lost may be
// about another GPU.
void metric_reader::read_fault() {
  constexpr metric_id id = metric_id::last_fault;
  constexpr auto field = missing_metric(id);
  const auto [c, from, last] = faults_.read(t_, of_);
  const bool has_number = last && last != xid_without_number;
  if (has_number) count(id, 0, *last);
  if (c == gpu_is_lost) return t_.missing(c, from->name(), field);
  if (!take(c, *from, field) || has_number) return;
  const char* const why =
      last ? ": a fault to which NVML gives no number"
           : ": no fault since this context first asked; NVML reports no earlier one";
  t_.report(last ? status::backend : status::unsupported, {from->name(), why}, field);
}

void metric_reader::read_load() {
  utilization reported{};
  if (get(missing_metric(metric_id::engine_percent), s_.fn.utilization, &reported)) {
    add(metric_id::engine_percent, engine::unknown, reported.gpu);
    add(metric_id::engine_percent, engine::memory, reported.memory);
  }
  add_engine(s_.fn.encoder, engine::encode);
  add_engine(s_.fn.decoder, engine::decode);
}

void metric_reader::read_temperatures() {
  if (const auto core = celsius(missing_metric(metric_id::temperature, sensor::core))) {
    add(metric_id::temperature, sensor::core, *core);
  }
  for (const threshold_row& row : thresholds_known) {
    add_indexed(s_.fn.threshold, row.reported, row.id, row.instance);
  }
}

void metric_reader::read_power() {
  add_number(s_.fn.power, metric_id::power_watts, power_reading::unknown, from_milli);
  constexpr metric_id limit = metric_id::power_limit_watts;
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
  if (const auto used = joules(missing_metric(metric_id::energy_joules, power_reading::unknown))) {
    add(metric_id::energy_joules, power_reading::unknown, *used);
  }
}

void metric_reader::read_clocks() {
  for (const clock_row& row : clocks_known) {
    add_indexed(s_.fn.clock, row.reported, metric_id::clock_mhz, row.instance);
  }
  if (t_.r.is_quick())
    return t_.left_out(s_.fn.max_clock, missing_metric(metric_id::clock_limit_mhz));
  for (const clock_row& row : clocks_known) {
    add_indexed(s_.fn.max_clock, row.reported, metric_id::clock_limit_mhz, row.instance);
  }
}

void metric_reader::read_fans() {
  const unsigned fans = number(missing_metric(metric_id::fan_percent), s_.fn.fan_count).value_or(0);
  for (unsigned n = 0; n < std::min(fans, most_fans); ++n) {
    add_indexed(s_.fn.fan_of, n, metric_id::fan_percent, n + 1);
  }
}

void metric_reader::read_errors() {
  if (const auto replays = number(missing_metric(metric_id::pcie_replays), s_.fn.pcie_replays)) {
    count_of(s_.fn.pcie_replays, metric_id::pcie_replays, 0, *replays, UINT32_MAX - 1);
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
  constexpr metric_id remapped = metric_id::rows_remapped;
  unsigned rows[4] = {};
  const auto& from = s_.fn.remapped_rows;
  if (!get(missing_metric(remapped), from, &rows[0], &rows[1], &rows[2], &rows[3])) return;
  for (unsigned n = 0; n < 4; ++n) {
    count(remapped, remapping::corrected + n, rows[n]);
  }
}

void metric_reader::take_field(const field_row& row, const field_value& reported,
                               std::uint32_t instance) {
  if (!take_field_value(reported, missing_metric(row.id, instance))) return;
  if (row.unit.over == a_count.over) {
    if (!is_small(reported)) {
      count(row.id, instance, reported.bits * row.factor);
      return;
    }
    const std::uint32_t key = row.field | instance << 16;
    const auto low = static_cast<std::uint32_t>(reported.bits);
    metric* const m =
        count(row.id, instance, wide_.widen(s_.number(), *t_.device, key, low) * row.factor);
    m->notes |= note::lower_bound;
    return;
  }
  const double value = number_of(reported);
  // Boards without the sensor report 0.
  if (row.id == metric_id::temperature && value == 0) {
    return t_.missing(not_offered, s_.fn.fields.name(), missing_metric(row.id, instance));
  }
  add(row.id, instance, row.unit.of(value));
}

void metric_reader::read_fields(std::span<const field_row> rows, std::uint32_t link) {
  std::array<field_value, most_fields> reported{};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    reported[n].id = rows[n].field;
    reported[n].scope = link;
  }
  const code c = call(t_, s_.fn.fields, of_.h, static_cast<int>(rows.size()), reported.data());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::uint32_t instance = rows[n].instance + link;
    if (!take(c, s_.fn.fields, missing_metric(rows[n].id, instance))) continue;
    take_field(rows[n], reported[n], instance);
  }
}

void metric_reader::read_links() {
  constexpr field_row rows[] = {
      {field_link_rx, metric_id::link_rx_bytes, first_link, a_count, 1024},
      {field_link_tx, metric_id::link_tx_bytes, first_link, a_count, 1024},
  };
  field_value links{};
  links.id = field_link_count;
  code c = call(t_, s_.fn.fields, of_.h, 1, &links);
  if (c == success) c = outcome_of(links);
  for (const field_row& row : rows) take(c, s_.fn.fields, missing_metric(row.id));
  if (c != success) return;
  const auto count = std::min<std::uint64_t>(links.bits, most_links);
  for (std::uint32_t link = 0; link < count && ended_by() == success; ++link) {
    read_fields(rows, link);
  }
}

fault_watch::answer fault_watch::read(const topic& t, const known_device& of) {
  known_faults& w = devices_.find(of.identity.number)->faults;
  if (w.h != of.h) w.session = 0;
  w.h = of.h;
  if (w.session != s_.number()) begin(t, w);
  if (w.result != success) return {w.result, w.from, w.last};
  const code c = take_down(t);
  return {c, &s_.fn.wait_for_event, w.last};
}

void fault_watch::begin(const topic& t, known_faults& w) {
  w.session = s_.number();
  unsigned long long types = 0;
  w.from = &s_.fn.event_types;
  w.result = call(t, s_.fn.event_types, w.h, &types);
  if (w.result == success && (types & event_xid) == 0) w.result = not_offered;
  if (w.result == success) w.result = enter(t, w);
  if (w.result == late) w.session = 0;
}

code fault_watch::enter(const topic& t, known_faults& w) {
  if (s_.events == nullptr) {
    w.from = &s_.fn.create_events;
    if (const code c = call(t, s_.fn.create_events, &s_.events); c != success) return c;
  }
  w.from = &s_.fn.register_events;
  const unsigned long long types = event_xid;
  const code c = call(t, s_.fn.register_events, w.h, types, s_.events);
  if (c != unknown) return c;
  // According to NVML's documentation, event sets are then unusable.
  s_.free_events();
  for (known_device& other : devices_.all()) {
    if (&other.faults != &w) other.faults.session = 0;
  }
  return c;
}

code fault_watch::take_down(const topic& t) {
  code c = s_.events != nullptr ? success : timed_out;
  for (unsigned n = 0; n < most_events && c == success; ++n) {
    event_data reported{};
    const unsigned at_once = 0;
    c = call(t, s_.fn.wait_for_event, s_.events, &reported, at_once);
    if (c == success) take_down(reported);
  }
  return c == timed_out ? success : c;
}

void fault_watch::take_down(const event_data& reported) noexcept {
  if ((reported.type & event_xid) == 0) return;
  for (known_device& d : devices_.all()) {
    known_faults& w = d.faults;
    if (w.h == reported.device && w.session == s_.number()) w.last = reported.data;
  }
}

}  // namespace hmn::nvml
