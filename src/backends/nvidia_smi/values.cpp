// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/values.hpp"

#include <algorithm>
#include <utility>

#include "model/compose.hpp"
#include "model/record.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

std::string_view advice_of(status code) {
  switch (code) {
    case status::permission:
      return ": it needs more rights";
    case status::device_lost:
      return ": see 'dmesg' for Xid lines, then reset the GPU or reboot";
    case status::empty:
      return ": the driver has no data";
    default:
      return "";
  }
}

// Words of the tool have the reason of their status. Other text is malformed, or a number that its
// form does not allow: negative, or too large.
reason reason_of(const gpu_cell& cell) {
  const std::string_view text = scan::trim(cell.text);
  if (text.empty()) return reason::not_understood;
  if (status_of_cell(text) != status::ok || text.front() == '[') return reason::unknown;
  const bool is_digits = text.find_first_not_of("0123456789", text.front() == '-') == text.npos;
  const bool is_impossible = is_digits && (text.front() == '-' || text.size() > 10);
  return is_impossible ? reason::implausible : reason::not_understood;
}

namespace field = telemetry_field;

constexpr std::uint64_t mebibyte = 1ULL << 20;

struct memory_reader {
  const gpu_row& row;
  std::vector<missing>& gone;

  std::optional<std::uint64_t> take(gpu_column c, std::uint32_t bit) {
    const auto m = bytes_of(row[c].text, row[c].unit);
    if (!m.value) add_missing(gone, bit, m.why, row[c]);
    return m.value;
  }
};

// Checks total = reserved + free + used, each rounded to a MiB.
bool adds_up(const pool& p, std::uint64_t reserved) {
  const auto taken = scan::sum(reserved, *p.used);
  const auto sum = taken ? scan::sum(*taken, *p.free) : std::nullopt;
  return sum && std::max(*sum, *p.total) - std::min(*sum, *p.total) <= 2 * mebibyte;
}

// Without the reserved part free and used may make up the total; else nothing shows which is true.
void check(pool& p, std::vector<missing>& gone) {
  if (!p.reserved || !p.free || !p.used || adds_up(p, *p.reserved)) return;
  std::uint32_t doubted = pool_field::reserved;
  if (!adds_up(p, 0)) doubted |= pool_field::free | pool_field::used;
  forget(doubted, p);
  add_missing(gone, doubted, status::backend,
              "nvidia-smi's reserved, free and used memory do not add up to the total",
              reason::implausible);
}

failure no_total(const missing& why) {
  return {why.code, source::nvidia_smi, {}, {"memory.total: ", why.message.view()}, why.stated};
}

class telemetry_reader {
 public:
  telemetry_reader(const gpu_row& row, std::uint32_t fields, std::vector<missing>& gone)
      : row_(row), fields_(fields), gone_(gone) {}

  void number(gpu_column c, std::string_view unit, std::uint32_t bit, std::optional<double>& into) {
    if (wants(bit)) into = keep(number_of(row_[c].text, row_[c].unit, unit), c, bit);
  }
  void count(gpu_column c, std::string_view unit, std::uint32_t bit,
             std::optional<std::uint32_t>& into) {
    if (wants(bit)) into = keep(count_of(row_[c].text, row_[c].unit, unit), c, bit);
  }
  void p_state(std::optional<std::uint32_t>& into) {
    if (!wants(field::p_state)) return;
    into = keep(p_state_of(row_[gpu_column::p_state].text), gpu_column::p_state, field::p_state);
  }
  void throttle(std::optional<std::uint32_t>& into);
  void never(std::uint32_t bits) {
    if (wants(bits)) {
      add_missing(gone_, fields_ & bits, status::unsupported,
                  "nvidia-smi's table has no such column");
    }
  }

 private:
  [[nodiscard]] bool wants(std::uint32_t bits) const { return (fields_ & bits) != 0; }

  template <class T>
  std::optional<T> keep(measured<T> m, gpu_column c, std::uint32_t bit) {
    if (!m.value) add_missing(gone_, bit, m.why, row_[c]);
    return m.value;
  }

  const gpu_row& row_;
  std::uint32_t fields_;
  std::vector<missing>& gone_;
};

// Bits of nvmlClocksEventReasons in nvml.h.
std::uint32_t throttle_of(std::uint64_t reasons) {
  constexpr std::pair<std::uint64_t, std::uint32_t> meanings[] = {
      {0x001, throttle::idle},      // GPU idle
      {0x002, throttle::setting},   // applications clocks
      {0x004, throttle::power},     // software power cap
      {0x008, throttle::hardware},  // hardware slowdown
      {0x010, throttle::other},     // sync boost
      {0x020, throttle::thermal},   // software thermal slowdown
      {0x040, throttle::thermal},   // hardware thermal slowdown
      {0x080, throttle::power},     // hardware power brake
      {0x100, throttle::setting},   // display clock
  };
  std::uint32_t bits = 0;
  for (const auto& [reason, meaning] : meanings) {
    if ((reasons & reason) != 0) bits |= meaning;
    reasons &= ~reason;
  }
  return reasons == 0 ? bits : bits | throttle::other;
}

void telemetry_reader::throttle(std::optional<std::uint32_t>& into) {
  if (!wants(field::throttle)) return;
  const auto reasons = hexadecimal_of(row_[gpu_column::throttle].text);
  if (keep(reasons, gpu_column::throttle, field::throttle)) into = throttle_of(*reasons.value);
}

// Kept small and free of pointers, which would need relocations.
struct metric_column {
  constexpr metric_column(gpu_column c, metric_id m, std::uint32_t i, std::string_view u,
                          bool counts = false)
      : from(static_cast<std::uint8_t>(c)),
        id(static_cast<std::uint8_t>(m)),
        instance(static_cast<std::uint8_t>(i)),
        is_count(counts) {
    for (std::size_t n = 0; n < u.size(); ++n) unit[n] = u[n];
  }
  std::uint8_t from, id, instance;
  bool is_count;
  char unit[4] = {};
};

using col = gpu_column;
constexpr metric_column metric_columns[] = {
    {col::gpu_busy, metric_id::engine_percent, which::engine::unknown, "%"},
    {col::memory_busy, metric_id::engine_percent, which::engine::memory, "%"},
    {col::encoder_busy, metric_id::engine_percent, which::engine::encode, "%"},
    {col::decoder_busy, metric_id::engine_percent, which::engine::decode, "%"},
    {col::temperature, metric_id::temperature, which::sensor::core, ""},
    {col::memory_temperature, metric_id::temperature, which::sensor::memory, ""},
    {col::power, metric_id::power_watts, which::power_reading::unknown, "W"},
    {col::power_limit, metric_id::power_limit_watts, which::power_limit::current, "W"},
    {col::power_usual, metric_id::power_limit_watts, which::power_limit::default_limit, "W"},
    {col::power_lowest, metric_id::power_limit_watts, which::power_limit::min, "W"},
    {col::power_highest, metric_id::power_limit_watts, which::power_limit::max, "W"},
    {col::core_clock, metric_id::clock_mhz, which::clock::core, "MHz"},
    {col::sm_clock, metric_id::clock_mhz, which::clock::sm, "MHz"},
    {col::memory_clock, metric_id::clock_mhz, which::clock::memory, "MHz"},
    {col::video_clock, metric_id::clock_mhz, which::clock::video, "MHz"},
    {col::core_clock_limit, metric_id::clock_limit_mhz, which::clock::core, "MHz"},
    {col::memory_clock_limit, metric_id::clock_limit_mhz, which::clock::memory, "MHz"},
    {col::fan, metric_id::fan_percent, 1, "%"},
    {col::ecc_corrected, metric_id::ecc_corrected, which::era::since_load, "", true},
    {col::ecc_corrected_ever, metric_id::ecc_corrected, which::era::lifetime, "", true},
    {col::ecc_uncorrected, metric_id::ecc_uncorrected, which::era::since_load, "", true},
    {col::ecc_uncorrected_ever, metric_id::ecc_uncorrected, which::era::lifetime, "", true},
};

// What is outside of the type is its maximum, which no limit allows.
std::uint64_t count_from(double value) {
  return value < 0x1p64 ? static_cast<std::uint64_t>(value) : UINT64_MAX;
}

}  // namespace

void add_missing(std::vector<missing>& to, std::uint32_t field, status code, const gpu_cell& cell) {
  if (!cell.is_asked) {
    add_missing(to, field, status::unsupported, "this nvidia-smi has no such column");
    return;
  }
  const text<64> word(cell.text);
  add_missing(to, field, code, {"nvidia-smi prints \"", word.view(), "\"", advice_of(code)},
              reason_of(cell));
}

void metrics_of(const gpu_row& row, std::vector<metric>& out,
                function_ref<void(metric_id, status, const gpu_cell&)> refused) {
  for (const metric_column& m : metric_columns) {
    const auto id = static_cast<metric_id>(m.id);
    const gpu_cell& cell = row.cells[m.from];
    const auto reported = number_of(cell.text, cell.unit, m.unit);
    if (!reported.value) {
      if (cell.is_asked && reported.why != status::unsupported) refused(id, reported.why, cell);
      continue;
    }
    const source from = source::nvidia_smi;
    out.push_back(m.is_count ? counted(from, id, m.instance, count_from(*reported.value))
                             : hmn::measured(from, id, m.instance, *reported.value));
  }
}

result<pool> pool_of(const gpu_row& row, std::vector<missing>& gone) {
  pool p;
  p.from = source::nvidia_smi;
  p.accounting = accounting::allocated;
  p.is_main = true;
  memory_reader m{row, gone};
  p.total = m.take(gpu_column::memory_total, pool_field::total);
  if (identity_of(row).memory_kind == memory_kind::unified) {
    p.kind = pool_kind::unified;
    p.total.reset();
    return p;
  }
  if (!p.total) return no_total(gone.front());
  p.kind = pool_kind::vram;
  p.used = m.take(gpu_column::memory_used, pool_field::used);
  p.free = m.take(gpu_column::memory_free, pool_field::free);
  p.reserved = m.take(gpu_column::memory_reserved, pool_field::reserved);
  check(p, gone);
  return p;
}

telemetry telemetry_of(const gpu_row& row, std::uint32_t fields, std::vector<missing>& gone) {
  telemetry t;
  t.from = source::nvidia_smi;
  t.sources = 1ULL << static_cast<unsigned>(source::nvidia_smi);
  telemetry_reader r(row, fields, gone);
  r.number(gpu_column::gpu_busy, "%", field::gpu_busy_percent, t.gpu_busy_percent);
  r.number(gpu_column::memory_busy, "%", field::memory_busy_percent, t.memory_busy_percent);
  r.number(gpu_column::encoder_busy, "%", field::encoder_busy_percent, t.encoder_busy_percent);
  r.number(gpu_column::decoder_busy, "%", field::decoder_busy_percent, t.decoder_busy_percent);
  r.number(gpu_column::temperature, "", field::temperature_celsius, t.temperature_celsius);
  r.number(gpu_column::memory_temperature, "", field::memory_celsius, t.memory_celsius);
  r.number(gpu_column::power, "W", field::power_watts, t.power_watts);
  r.number(gpu_column::power_limit, "W", field::power_limit_watts, t.power_limit_watts);
  r.count(gpu_column::core_clock, "MHz", field::core_clock_mhz, t.core_clock_mhz);
  r.count(gpu_column::memory_clock, "MHz", field::memory_clock_mhz, t.memory_clock_mhz);
  r.count(gpu_column::fan, "%", field::fan_percent, t.fan_percent);
  r.count(gpu_column::pcie_generation, "", field::pcie_generation, t.pcie_generation);
  r.count(gpu_column::pcie_width, "", field::pcie_width, t.pcie_width);
  r.p_state(t.p_state);
  r.throttle(t.throttle);
  r.never(never_in_table);
  return t;
}

}  // namespace hmn::nvidia_smi
