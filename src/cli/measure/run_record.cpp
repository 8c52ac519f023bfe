// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/text/json.hpp"

namespace hmn::cli {
namespace {

void add_value(Curve& curve, std::uint64_t offset_ns, const std::optional<double>& value) {
  if (value)
    curve.add(offset_ns, *value);
  else
    curve.add_gap();
}

// That the command has ended explains no value that another failure has prevented before.
void keep_reason(const std::string& reason, std::string& target) {
  if (!reason.empty() && (target.empty() || reason != ended_too_early)) target = reason;
}

}  // namespace

std::uint64_t TrackedValue::longest_gap_ns(std::uint64_t end_ns) const {
  return std::max(longest_gap_ns_, std::max(end_ns, known_until_ns_) - known_until_ns_);
}

void TrackedValue::add(std::uint64_t offset_ns, const std::optional<std::uint64_t>& bytes,
                       bool is_idle, std::uint64_t age_ns) {
  if (bytes || is_idle) {
    longest_gap_ns_ = longest_gap_ns(offset_ns);
    known_until_ns_ = offset_ns - std::min(offset_ns, age_ns);
  }
  if (!bytes) {
    if (!is_idle) ++gaps_;
    return line_.add_gap();
  }
  ++count_;
  line_.add(offset_ns, static_cast<double>(*bytes));
  // Keep exact bytes, as the curve's floating point is inexact above 2^53.
  if (!highest_ || *bytes > highest_->bytes) highest_ = Peak{*bytes, offset_ns};
}

void RunAccount::add(const RunSample& sample) {
  const auto offset_ns = sample.offset_ns;
  if (sample.host) {
    resident_.add(offset_ns, sample.host->resident_bytes, sample.host->reason == ended_too_early);
    largest_bytes_ = std::max(largest_bytes_, sample.host->largest_bytes);
    keep_reason(sample.host->reason, reason_);
    // Rarely read: absence in between is not a gap.
    if (sample.host->proportional_bytes)
      proportional_.add(offset_ns, sample.host->proportional_bytes);
    group_.add(offset_ns, sample.host->group_bytes);
  }
  for (std::size_t i = 0; i < sample.devices.size() && i < devices_.size(); ++i) {
    auto& account = devices_[i];
    const auto& device = sample.devices[i];
    const bool has_ended = device.reason == ended_too_early;
    account.command.add(offset_ns, device.command_bytes, device.is_asleep || has_ended,
                        device.age_ns);
    account.used.add(offset_ns, device.used_bytes, device.is_asleep, device.age_ns);
    add_value(account.load, offset_ns, device.busy_percent);
    add_value(account.power, offset_ns, device.power_watts);
    if (device.command_bytes && device.is_lower_bound) account.is_lower_bound = true;
    if (device.used_bytes && device.is_used_lower_bound) account.is_used_lower_bound = true;
    keep_reason(device.reason, account.reason);
    keep_reason(device.used_reason, account.used_reason);
  }
}

namespace {

struct HostValue {
  const char* key;
  std::optional<std::uint64_t> (*get)(const HostSample&);
};
struct DeviceValue {
  const char* key;
  std::string (*get)(const DeviceSample&);
};

constexpr HostValue host_values[] = {
    {"processes", [](const HostSample& s) { return std::optional<std::uint64_t>(s.processes); }},
    {"resident_bytes", [](const HostSample& s) { return s.resident_bytes; }},
    {"proportional_bytes", [](const HostSample& s) { return s.proportional_bytes; }},
    {"group_bytes", [](const HostSample& s) { return s.group_bytes; }},
};
constexpr DeviceValue device_values[] = {
    {"command_bytes", [](const DeviceSample& s) { return format_digits(s.command_bytes); }},
    {"used_bytes", [](const DeviceSample& s) { return format_digits(s.used_bytes); }},
    {"gpu_busy_percent", [](const DeviceSample& s) { return format_digits(s.busy_percent); }},
    {"power_watts", [](const DeviceSample& s) { return format_digits(s.power_watts); }},
    {"energy_joules", [](const DeviceSample& s) { return format_digits(s.energy_joules); }},
};

std::string format_host_value(const RunSample& sample, const HostValue& value) {
  return sample.host ? format_digits(value.get(*sample.host)) : std::string();
}

JsonObject make_sample_object(const DeviceSample& sample, std::uint32_t index) {
  JsonObject object;
  object.add("index", index);
  for (const auto& value : device_values) object.add_raw(value.key, value.get(sample));
  object.add("lower_bound", sample.command_bytes && sample.is_lower_bound);
  return sample.command_bytes ? object.add_null("reason") : object.add("reason", sample.reason);
}

std::string format_json_line(const RunSample& sample, const std::vector<std::uint32_t>& indexes) {
  JsonObject object;
  object.add("offset_ns", sample.offset_ns).add("unix_time_ns", sample.unix_time_ns);
  for (const auto& value : host_values)
    object.add_raw(value.key, format_host_value(sample, value));
  std::vector<JsonObject> devices;
  for (std::size_t i = 0; i < sample.devices.size(); ++i)
    devices.push_back(make_sample_object(sample.devices[i], indexes[i]));
  return object.add("devices", devices).text() + "\n";
}

std::string format_csv_line(const RunSample& sample, std::size_t device_count) {
  auto line =
      fmt::format("{:.3f},{}", static_cast<double>(sample.offset_ns) / 1e9, sample.unix_time_ns);
  for (const auto& value : host_values)
    line += fmt::format(",{}", format_host_value(sample, value));
  for (std::size_t i = 0; i < device_count; ++i)
    for (const auto& value : device_values)
      line += fmt::format(",{}",
                          i < sample.devices.size() ? value.get(sample.devices[i]) : std::string());
  return line + "\n";
}

}  // namespace

TimelineForm choose_timeline_form(std::string_view path) {
  return path.ends_with(".csv") ? TimelineForm::csv : TimelineForm::json_lines;
}

std::string format_timeline_header(TimelineForm form, const std::vector<std::uint32_t>& indexes) {
  if (form == TimelineForm::json_lines) return {};
  std::string line = "offset_s,unix_time_ns";
  for (const auto& value : host_values) line += fmt::format(",{}", value.key);
  for (const auto index : indexes)
    for (const auto& value : device_values) line += fmt::format(",gpu{}_{}", index, value.key);
  return line + "\n";
}

std::string format_timeline_line(TimelineForm form, const RunSample& sample,
                                 const std::vector<std::uint32_t>& indexes) {
  return form == TimelineForm::csv ? format_csv_line(sample, indexes.size())
                                   : format_json_line(sample, indexes);
}

}  // namespace hmn::cli
