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

namespace bit = telemetry_field;

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

// Column of a number: what it is among the metrics, and its field of the telemetry.
struct number_column {
  constexpr number_column(gpu_column c, metric_id m, std::uint32_t i, std::string_view u,
                          std::uint32_t t = 0, bool counts = false)
      : from(static_cast<std::uint8_t>(c)),
        id(static_cast<std::uint8_t>(m)),
        instance(static_cast<std::uint8_t>(i)),
        is_count(counts),
        unit(u),
        telemetry(t) {}
  std::uint8_t from, id, instance;
  bool is_count;
  std::string_view unit;
  std::uint32_t telemetry;  // presence bit; 0: none
};

using col = gpu_column;
constexpr number_column number_columns[] = {
    {col::gpu_busy, metric_id::engine_percent, which::engine::unknown, "%", bit::gpu_busy_percent},
    {col::memory_busy, metric_id::engine_percent, which::engine::memory, "%",
     bit::memory_busy_percent},
    {col::encoder_busy, metric_id::engine_percent, which::engine::encode, "%",
     bit::encoder_busy_percent},
    {col::decoder_busy, metric_id::engine_percent, which::engine::decode, "%",
     bit::decoder_busy_percent},
    {col::temperature, metric_id::temperature, which::sensor::core, "", bit::temperature_celsius},
    {col::memory_temperature, metric_id::temperature, which::sensor::memory, "",
     bit::memory_celsius},
    {col::power, metric_id::power_watts, which::power_reading::unknown, "W", bit::power_watts},
    {col::power_limit, metric_id::power_limit_watts, which::power_limit::current, "W",
     bit::power_limit_watts},
    {col::power_usual, metric_id::power_limit_watts, which::power_limit::default_limit, "W"},
    {col::power_lowest, metric_id::power_limit_watts, which::power_limit::min, "W"},
    {col::power_highest, metric_id::power_limit_watts, which::power_limit::max, "W"},
    {col::core_clock, metric_id::clock_mhz, which::clock::core, "MHz", bit::core_clock_mhz},
    {col::sm_clock, metric_id::clock_mhz, which::clock::sm, "MHz"},
    {col::memory_clock, metric_id::clock_mhz, which::clock::memory, "MHz", bit::memory_clock_mhz},
    {col::video_clock, metric_id::clock_mhz, which::clock::video, "MHz"},
    {col::core_clock_limit, metric_id::clock_limit_mhz, which::clock::core, "MHz"},
    {col::memory_clock_limit, metric_id::clock_limit_mhz, which::clock::memory, "MHz"},
    {col::fan, metric_id::fan_percent, 1, "%", bit::fan_percent},
    {col::pcie_generation, metric_id::unknown, 0, "", bit::pcie_generation},
    {col::pcie_width, metric_id::unknown, 0, "", bit::pcie_width},
    {col::ecc_corrected, metric_id::ecc_corrected, which::era::since_load, "", 0, true},
    {col::ecc_corrected_ever, metric_id::ecc_corrected, which::era::lifetime, "", 0, true},
    {col::ecc_uncorrected, metric_id::ecc_uncorrected, which::era::since_load, "", 0, true},
    {col::ecc_uncorrected_ever, metric_id::ecc_uncorrected, which::era::lifetime, "", 0, true},
};

// Returns why the cell has no number.
status take(const gpu_cell& cell, const number_column& c, telemetry& into) {
  const field& f = field_of(fields_of<telemetry>(), c.telemetry);
  if (f.type == field_type::real) {
    const auto real = number_of(cell.text, cell.unit, c.unit);
    if (real.value) f.set(&into, *real.value);
    return real.why;
  }
  const auto count = count_of(cell.text, cell.unit, c.unit);
  if (count.value) f.set(&into, *count.value);
  return count.why;
}

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
  for (const number_column& m : number_columns) {
    const auto id = static_cast<metric_id>(m.id);
    if (id == metric_id::unknown) continue;
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
  const auto check = [&](std::uint32_t field, status why, const gpu_cell& cell) {
    if (why != status::ok) add_missing(gone, field, why, cell);
  };
  for (const number_column& c : number_columns) {
    const gpu_cell& cell = row.cells[c.from];
    if ((fields & c.telemetry) != 0) check(c.telemetry, take(cell, c, t), cell);
  }
  if ((fields & bit::p_state) != 0) {
    const gpu_cell& cell = row[gpu_column::p_state];
    const auto state = p_state_of(cell.text);
    t.p_state = state.value;
    check(bit::p_state, state.why, cell);
  }
  if ((fields & bit::throttle) != 0) {
    const gpu_cell& cell = row[gpu_column::throttle];
    const auto reasons = hexadecimal_of(cell.text);
    if (reasons.value) t.throttle = throttle_of(*reasons.value);
    check(bit::throttle, reasons.why, cell);
  }
  if ((fields & never_in_table) != 0) {
    add_missing(gone, fields & never_in_table, status::unsupported,
                "nvidia-smi's table has no such column");
  }
  return t;
}

}  // namespace hmn::nvidia_smi
