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
  Field field;
  Form form;
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
constexpr std::size_t max_samples = 256;

std::optional<double> read_number(const json::Value& value) {
  if (const auto* n = value.get_if<std::uint64_t>()) return static_cast<double>(*n);
  if (const auto* n = value.get_if<json::Number>()) return n->nearest;
  return std::nullopt;
}

// Why the value is impossible in that form; empty: it is possible.
std::string_view find_flaw(Form form, double number) {
  constexpr double float_error = 1e-4;
  switch (form) {
    case Form::share:
      return number >= 0 && number <= 1 + float_error ? "" : ", which is not a fraction";
    case Form::megahertz:
      if (number == 0) return ": the GPU did not run in that time";
      return number > 0 && number < 10'000 ? "" : ", which is not a clock in MHz";
    case Form::watts:
      if (number == 0) return ": too little to be counted, or macOS does not count it any more";
      return number > 0 && number < 1000 ? "" : ", which is not a power in W";
    case Form::celsius:
      if (number == 0) return ": no sensor reported it";
      return number > 0 && number < 150 ? "" : ", which is not a temperature of a GPU";
    case Form::rpm:
      return number >= 0 && number < 100'000 ? "" : ", which is not a fan speed in RPM";
    case Form::bytes:
      return number > 0 ? "" : ", which is not a memory size";
  }
  return "";
}

FieldAmount read_field_amount(std::string_view key, Form form, const json::Value& value) {
  FieldAmount amount;
  amount.key.assign(key);
  amount.text.assign(json::summarize(value));
  amount.status = Status::backend;
  const std::optional<double> number = read_number(value);
  const auto* whole = value.get_if<std::uint64_t>();
  if (!number || (form == Form::bytes && whole == nullptr)) {
    amount.flaw = ", which is not a number";
    if (value.is_null()) amount.status = Status::unsupported;
    return amount;
  }
  amount.flaw = find_flaw(form, *number);
  if (!amount.flaw.empty()) {
    if (*number == 0) amount.status = Status::unsupported;
    return amount;
  }
  amount.status = Status::ok;
  amount.number = form == Form::share ? std::min(*number, 1.0) * 100 : *number;
  amount.whole = whole != nullptr ? *whole : 0;
  return amount;
}

const json::Value* find_value(const json::Object& object, const Row& row) {
  const json::Object* group = &object;
  if (!row.outer.empty()) {
    const json::Value* const outer = object.find(row.outer);
    group = outer != nullptr ? outer->get_if<json::Object>() : nullptr;
  }
  const json::Value* const value = group != nullptr ? group->find(row.key) : nullptr;
  if (value == nullptr || row.item < 0) return value;
  const auto* const list = value->get_if<json::Array>();
  const auto index = static_cast<std::size_t>(row.item);
  return list != nullptr && index < list->items.size() ? &list->items[index] : nullptr;
}

void read_fans(const json::Object& object, Sample& sample) {
  const json::Value* const value = object.find("fans");
  const auto* const list = value != nullptr ? value->get_if<json::Array>() : nullptr;
  if (list == nullptr) return;
  for (std::size_t i = 0; i < std::min(list->items.size(), max_fans); ++i) {
    const auto* const fan = list->items[i].get_if<json::Object>();
    const json::Value* const rpm = fan != nullptr ? fan->find("rpm") : nullptr;
    if (rpm != nullptr) sample.fans[i] = read_field_amount("rpm", Form::rpm, *rpm);
  }
}

// Returns nothing for an object without any key of a sample.
std::optional<Sample> read_sample(const json::Object& object) {
  Sample sample;
  bool is_known = false;
  for (const Row& row : rows) {
    const json::Value* const value = find_value(object, row);
    FieldAmount& target = sample.amounts[static_cast<std::size_t>(row.field)];
    if (value == nullptr || target.has_value()) continue;
    FieldAmount amount = read_field_amount(row.key, row.form, *value);
    if (amount.has_value() || target.status == Status::empty) target = amount;
    is_known = true;
  }
  if (!is_known) return std::nullopt;
  read_fans(object, sample);
  const json::Value* const soc = object.find("soc");
  const auto* const soc_object = soc != nullptr ? soc->get_if<json::Object>() : nullptr;
  const json::Value* const chip = soc_object != nullptr ? soc_object->find("chip_name") : nullptr;
  const auto* const name = chip != nullptr ? chip->get_if<std::string>() : nullptr;
  if (name != nullptr) sample.chip.assign(*name);
  return sample;
}

}  // namespace

Answer read_answer(std::string_view output) {
  std::string valid;
  append_utf8(valid, output);
  Answer answer;
  std::string_view rest = valid;
  std::size_t attempts = 0;
  while (!rest.empty()) {
    std::size_t length = 0;
    if (rest.front() == '{' && attempts++ < max_samples) {
      const auto result = json::parse_front(rest, length);
      const auto* const value = std::get_if<json::Value>(&result);
      const auto* const object = value != nullptr ? value->get_if<json::Object>() : nullptr;
      if (auto sample = object != nullptr ? read_sample(*object) : std::nullopt)
        answer.last = std::move(sample);
      if (object != nullptr) {
        rest.remove_prefix(length);
        continue;
      }
    }
    const std::string_view line = scan::trim(scan::take_line(rest));
    if (!line.empty() && answer.stray.empty()) answer.stray.assign(line);
  }
  return answer;
}

}  // namespace hmn::macmon
