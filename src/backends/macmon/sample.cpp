// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/sample.hpp"

#include <algorithm>
#include <string>

#include "model/json.hpp"
#include "model/scan.hpp"

namespace hmn::macmon {
namespace {

enum class form : std::uint8_t { share, megahertz, watts, celsius, rpm, bytes };

// Of several rows for a field, the first that has a value counts. 0.8 also prints the keys of 0.4
// to 0.7, as pairs of clock and load; from 0.8.0 to 0.8.2 the load has two names.
struct row {
  field what;
  form as;
  std::string_view outer;  // empty: key of the sample itself
  std::string_view key;
  int item = -1;  // index in a list
};

constexpr row rows[] = {
    {field::gpu_active, form::share, "", "gpu_active_ratio"},
    {field::gpu_effective, form::share, "", "gpu_scaled_ratio"},
    {field::gpu_effective, form::share, "", "gpu_usage_ratio"},
    {field::gpu_effective, form::share, "", "gpu_usage", 1},
    {field::gpu_clock, form::megahertz, "", "gpu_freq_mhz"},
    {field::gpu_clock, form::megahertz, "", "gpu_usage", 0},
    {field::gpu_power, form::watts, "", "gpu_power"},
    {field::gpu_temperature, form::celsius, "temp", "gpu_temp_avg"},
    {field::chip_power, form::watts, "", "all_power"},
    {field::board_power, form::watts, "", "sys_power"},
    {field::memory_power, form::watts, "", "ram_power"},
    {field::memory_total, form::bytes, "memory", "ram_total"},
};

// Most samples accepted at once; one per second is expected.
constexpr std::size_t most_samples = 256;

std::optional<double> number_of(const json::value& v) {
  if (const auto* n = v.as<std::uint64_t>()) return static_cast<double>(*n);
  if (const auto* n = v.as<json::number>()) return n->nearest;
  return std::nullopt;
}

// Why the value is impossible in that form; empty: it is possible.
std::string_view flaw_of(form as, double n) {
  constexpr double float_error = 1e-4;
  switch (as) {
    case form::share:
      return n >= 0 && n <= 1 + float_error ? "" : ", which is no share";
    case form::megahertz:
      if (n == 0) return ": the GPU did not run in that time";
      return n > 0 && n < 10'000 ? "" : ", which is no clock in MHz";
    case form::watts:
      if (n == 0) return ": too little to be counted, or macOS does not count it any more";
      return n > 0 && n < 1000 ? "" : ", which is no power in W";
    case form::celsius:
      if (n == 0) return ": no sensor reported it";
      return n > 0 && n < 150 ? "" : ", which is no temperature of a GPU";
    case form::rpm:
      return n >= 0 && n < 100'000 ? "" : ", which is no speed of a fan in RPM";
    case form::bytes:
      return n > 0 ? "" : ", which is no size of memory";
  }
  return "";
}

field_amount read_field_amount(std::string_view key, form as, const json::value& v) {
  field_amount f;
  f.key.assign(key);
  f.said.assign(json::show(v));
  f.why = status::backend;
  const std::optional<double> n = number_of(v);
  const auto* whole = v.as<std::uint64_t>();
  if (!n || (as == form::bytes && whole == nullptr)) {
    f.flaw = ", which is no number";
    if (v.is_null()) f.why = status::unsupported;
    return f;
  }
  f.flaw = flaw_of(as, *n);
  if (!f.flaw.empty()) {
    if (*n == 0) f.why = status::unsupported;
    return f;
  }
  f.why = status::ok;
  f.number = as == form::share ? std::min(*n, 1.0) * 100 : *n;
  f.whole = whole != nullptr ? *whole : 0;
  return f;
}

const json::value* find(const json::object& o, const row& r) {
  const json::object* in = &o;
  if (!r.outer.empty()) {
    const json::value* const outer = o.find(r.outer);
    in = outer != nullptr ? outer->as<json::object>() : nullptr;
  }
  const json::value* const v = in != nullptr ? in->find(r.key) : nullptr;
  if (v == nullptr || r.item < 0) return v;
  const auto* const list = v->as<json::array>();
  const auto at = static_cast<std::size_t>(r.item);
  return list != nullptr && at < list->items.size() ? &list->items[at] : nullptr;
}

void read_fans(const json::object& o, sample& out) {
  const json::value* const v = o.find("fans");
  const auto* const list = v != nullptr ? v->as<json::array>() : nullptr;
  if (list == nullptr) return;
  for (std::size_t i = 0; i < std::min(list->items.size(), most_fans); ++i) {
    const auto* const fan = list->items[i].as<json::object>();
    const json::value* const rpm = fan != nullptr ? fan->find("rpm") : nullptr;
    if (rpm != nullptr) out.fans[i] = read_field_amount("rpm", form::rpm, *rpm);
  }
}

// Returns nothing for an object without any key of a sample.
std::optional<sample> read_sample(const json::object& o) {
  sample s;
  bool is_known = false;
  for (const row& r : rows) {
    const json::value* const v = find(o, r);
    field_amount& into = s.amounts[static_cast<std::size_t>(r.what)];
    if (v == nullptr || into.has_value()) continue;
    field_amount f = read_field_amount(r.key, r.as, *v);
    if (f.has_value() || into.why == status::empty) into = f;
    is_known = true;
  }
  if (!is_known) return std::nullopt;
  read_fans(o, s);
  const json::value* const soc = o.find("soc");
  const auto* const about = soc != nullptr ? soc->as<json::object>() : nullptr;
  const json::value* const chip = about != nullptr ? about->find("chip_name") : nullptr;
  const auto* const name = chip != nullptr ? chip->as<std::string>() : nullptr;
  if (name != nullptr) s.chip.assign(*name);
  return s;
}

}  // namespace

answer read_answer(std::string_view output) {
  std::string valid;
  append_utf8(valid, output);
  answer a;
  std::string_view rest = valid;
  std::size_t tried = 0;
  while (!rest.empty()) {
    std::size_t length = 0;
    if (rest.front() == '{' && tried++ < most_samples) {
      const auto read = json::parse_front(rest, length);
      const auto* const v = std::get_if<json::value>(&read);
      const auto* const o = v != nullptr ? v->as<json::object>() : nullptr;
      if (auto s = o != nullptr ? read_sample(*o) : std::nullopt) a.last = std::move(s);
      if (o != nullptr) {
        rest.remove_prefix(length);
        continue;
      }
    }
    const std::string_view line = scan::trim(scan::take_line(rest));
    if (!line.empty() && a.stray.empty()) a.stray.assign(line);
  }
  return a;
}

}  // namespace hmn::macmon
