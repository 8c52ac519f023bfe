// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/sample.hpp"

#include <algorithm>
#include <string>

#include "model/json.hpp"
#include "model/scan.hpp"

namespace hmn::macmon {
namespace {

enum class Form : std::uint8_t { share, megahertz, watts, celsius, rpm, bytes };

// Of several rows for a field, the first that has a value counts. 0.8 also prints the keys of 0.4
// to 0.7, as pairs of clock and load; from 0.8.0 to 0.8.2 the load has two names.
struct Row {
  Field what;
  Form as;
  std::string_view outer;  // empty: key of the sample itself
  std::string_view key;
  int item = -1;  // index in a list
};

constexpr Row rows[] = {
    {Field::gpu_active, Form::share, "", "gpu_active_ratio"},
    {Field::gpu_effective, Form::share, "", "gpu_scaled_ratio"},
    {Field::gpu_effective, Form::share, "", "gpu_usage_ratio"},
    {Field::gpu_effective, Form::share, "", "gpu_usage", 1},
    {Field::gpu_clock, Form::megahertz, "", "gpu_freq_mhz"},
    {Field::gpu_clock, Form::megahertz, "", "gpu_usage", 0},
    {Field::gpu_power, Form::watts, "", "gpu_power"},
    {Field::gpu_temperature, Form::celsius, "temp", "gpu_temp_avg"},
    {Field::chip_power, Form::watts, "", "all_power"},
    {Field::board_power, Form::watts, "", "sys_power"},
    {Field::memory_power, Form::watts, "", "ram_power"},
    {Field::memory_total, Form::bytes, "memory", "ram_total"},
};

// Most samples accepted at once; one per second is expected.
constexpr std::size_t most_samples = 256;

std::optional<double> number_of(const json::Value& v) {
  if (const auto* n = v.as<std::uint64_t>()) return static_cast<double>(*n);
  if (const auto* n = v.as<json::Number>()) return n->nearest;
  return std::nullopt;
}

// Why the value is impossible in that form; empty: it is possible.
std::string_view flaw_of(Form as, double n) {
  constexpr double float_error = 1e-4;
  switch (as) {
    case Form::share:
      return n >= 0 && n <= 1 + float_error ? "" : ", which is no share";
    case Form::megahertz:
      if (n == 0) return ": the GPU did not run in that time";
      return n > 0 && n < 10'000 ? "" : ", which is no clock in MHz";
    case Form::watts:
      if (n == 0) return ": too little to be counted, or macOS does not count it any more";
      return n > 0 && n < 1000 ? "" : ", which is no power in W";
    case Form::celsius:
      if (n == 0) return ": no sensor reported it";
      return n > 0 && n < 150 ? "" : ", which is no temperature of a GPU";
    case Form::rpm:
      return n >= 0 && n < 100'000 ? "" : ", which is no speed of a fan in RPM";
    case Form::bytes:
      return n > 0 ? "" : ", which is no size of memory";
  }
  return "";
}

FieldAmount read_field_amount(std::string_view key, Form as, const json::Value& v) {
  FieldAmount f;
  f.key.assign(key);
  f.said.assign(json::show(v));
  f.why = Status::backend;
  const std::optional<double> n = number_of(v);
  const auto* whole = v.as<std::uint64_t>();
  if (!n || (as == Form::bytes && whole == nullptr)) {
    f.flaw = ", which is no number";
    if (v.is_null()) f.why = Status::unsupported;
    return f;
  }
  f.flaw = flaw_of(as, *n);
  if (!f.flaw.empty()) {
    if (*n == 0) f.why = Status::unsupported;
    return f;
  }
  f.why = Status::ok;
  f.number = as == Form::share ? std::min(*n, 1.0) * 100 : *n;
  f.whole = whole != nullptr ? *whole : 0;
  return f;
}

const json::Value* find(const json::Object& o, const Row& r) {
  const json::Object* in = &o;
  if (!r.outer.empty()) {
    const json::Value* const outer = o.find(r.outer);
    in = outer != nullptr ? outer->as<json::Object>() : nullptr;
  }
  const json::Value* const v = in != nullptr ? in->find(r.key) : nullptr;
  if (v == nullptr || r.item < 0) return v;
  const auto* const list = v->as<json::Array>();
  const auto at = static_cast<std::size_t>(r.item);
  return list != nullptr && at < list->items.size() ? &list->items[at] : nullptr;
}

void read_fans(const json::Object& o, Sample& out) {
  const json::Value* const v = o.find("fans");
  const auto* const list = v != nullptr ? v->as<json::Array>() : nullptr;
  if (list == nullptr) return;
  for (std::size_t i = 0; i < std::min(list->items.size(), most_fans); ++i) {
    const auto* const fan = list->items[i].as<json::Object>();
    const json::Value* const rpm = fan != nullptr ? fan->find("rpm") : nullptr;
    if (rpm != nullptr) out.fans[i] = read_field_amount("rpm", Form::rpm, *rpm);
  }
}

// Returns nothing for an object without any key of a sample.
std::optional<Sample> read_sample(const json::Object& o) {
  Sample s;
  bool is_known = false;
  for (const Row& r : rows) {
    const json::Value* const v = find(o, r);
    FieldAmount& into = s.amounts[static_cast<std::size_t>(r.what)];
    if (v == nullptr || into.has_value()) continue;
    FieldAmount f = read_field_amount(r.key, r.as, *v);
    if (f.has_value() || into.why == Status::empty) into = f;
    is_known = true;
  }
  if (!is_known) return std::nullopt;
  read_fans(o, s);
  const json::Value* const soc = o.find("soc");
  const auto* const about = soc != nullptr ? soc->as<json::Object>() : nullptr;
  const json::Value* const chip = about != nullptr ? about->find("chip_name") : nullptr;
  const auto* const name = chip != nullptr ? chip->as<std::string>() : nullptr;
  if (name != nullptr) s.chip.assign(*name);
  return s;
}

}  // namespace

Answer read_answer(std::string_view output) {
  std::string valid;
  append_utf8(valid, output);
  Answer a;
  std::string_view rest = valid;
  std::size_t tried = 0;
  while (!rest.empty()) {
    std::size_t length = 0;
    if (rest.front() == '{' && tried++ < most_samples) {
      const auto read = json::parse_front(rest, length);
      const auto* const v = std::get_if<json::Value>(&read);
      const auto* const o = v != nullptr ? v->as<json::Object>() : nullptr;
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
