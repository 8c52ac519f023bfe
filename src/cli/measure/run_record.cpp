// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/text/json.hpp"

namespace hmn::cli {
namespace {

void add_value(Curve& to, std::uint64_t at_ns, const std::optional<double>& value) {
  if (value)
    to.add(at_ns, *value);
  else
    to.add_gap();
}

// That the command has ended explains no value that another failure has prevented before.
void keep_reason(const std::string& why, std::string& to) {
  if (!why.empty() && (to.empty() || why != ended_too_early)) to = why;
}

}  // namespace

std::uint64_t Tracked::longest_gap_ns(std::uint64_t end_ns) const {
  return std::max(longest_gap_ns_, std::max(end_ns, known_until_ns_) - known_until_ns_);
}

void Tracked::add(std::uint64_t at_ns, const std::optional<std::uint64_t>& bytes, bool is_idle,
                  std::uint64_t age_ns) {
  if (bytes || is_idle) {
    longest_gap_ns_ = longest_gap_ns(at_ns);
    known_until_ns_ = at_ns - std::min(at_ns, age_ns);
  }
  if (!bytes) {
    if (!is_idle) ++gaps_;
    return line_.add_gap();
  }
  ++count_;
  line_.add(at_ns, static_cast<double>(*bytes));
  // Keep exact bytes, as the curve's floating point is inexact above 2^53.
  if (!highest_ || *bytes > highest_->bytes) highest_ = Peak{*bytes, at_ns};
}

void RunAccount::add(const RunSample& sample) {
  const auto at = sample.offset_ns;
  if (sample.host) {
    resident_.add(at, sample.host->resident_bytes, sample.host->why == ended_too_early);
    largest_bytes_ = std::max(largest_bytes_, sample.host->largest_bytes);
    keep_reason(sample.host->why, why_);
    // Rarely read: absence in between is not a gap.
    if (sample.host->proportional_bytes) proportional_.add(at, sample.host->proportional_bytes);
    group_.add(at, sample.host->group_bytes);
  }
  for (std::size_t i = 0; i < sample.devices.size() && i < devices_.size(); ++i) {
    auto& to = devices_[i];
    const auto& from = sample.devices[i];
    const bool has_ended = from.why == ended_too_early;
    to.command.add(at, from.command_bytes, from.is_asleep || has_ended, from.age_ns);
    to.used.add(at, from.used_bytes, from.is_asleep, from.age_ns);
    add_value(to.load, at, from.busy_percent);
    add_value(to.power, at, from.power_watts);
    if (from.command_bytes && from.is_lower_bound) to.is_lower_bound = true;
    if (from.used_bytes && from.is_used_lower_bound) to.is_used_lower_bound = true;
    keep_reason(from.why, to.why);
    keep_reason(from.why_used, to.why_used);
  }
}

namespace {

struct HostValue {
  const char* key;
  std::optional<std::uint64_t> (*of)(const HostSample&);
};
struct DeviceValue {
  const char* key;
  std::string (*of)(const DeviceSample&);
};

constexpr HostValue host_values[] = {
    {"processes", [](const HostSample& s) { return std::optional<std::uint64_t>(s.processes); }},
    {"resident_bytes", [](const HostSample& s) { return s.resident_bytes; }},
    {"proportional_bytes", [](const HostSample& s) { return s.proportional_bytes; }},
    {"group_bytes", [](const HostSample& s) { return s.group_bytes; }},
};
constexpr DeviceValue device_values[] = {
    {"command_bytes", [](const DeviceSample& s) { return digits_of(s.command_bytes); }},
    {"used_bytes", [](const DeviceSample& s) { return digits_of(s.used_bytes); }},
    {"gpu_busy_percent", [](const DeviceSample& s) { return digits_of(s.busy_percent); }},
    {"power_watts", [](const DeviceSample& s) { return digits_of(s.power_watts); }},
    {"energy_joules", [](const DeviceSample& s) { return digits_of(s.energy_joules); }},
};

std::string host_digits(const RunSample& s, const HostValue& each) {
  return s.host ? digits_of(each.of(*s.host)) : std::string();
}

JsonObject device_object(const DeviceSample& s, std::uint32_t index) {
  JsonObject out;
  out.add("index", index);
  for (const auto& each : device_values) out.add_digits(each.key, each.of(s));
  out.add("lower_bound", s.command_bytes && s.is_lower_bound);
  return s.command_bytes ? out.add_null("reason") : out.add("reason", s.why);
}

std::string json_line(const RunSample& s, const std::vector<std::uint32_t>& indexes) {
  JsonObject out;
  out.add("offset_ns", s.offset_ns).add("unix_time_ns", s.unix_time_ns);
  for (const auto& each : host_values) out.add_digits(each.key, host_digits(s, each));
  std::vector<JsonObject> devices;
  for (std::size_t i = 0; i < s.devices.size(); ++i)
    devices.push_back(device_object(s.devices[i], indexes[i]));
  return out.add("devices", devices).text() + "\n";
}

std::string csv_line(const RunSample& s, std::size_t devices) {
  auto line = fmt::format("{:.3f},{}", static_cast<double>(s.offset_ns) / 1e9, s.unix_time_ns);
  for (const auto& each : host_values) line += fmt::format(",{}", host_digits(s, each));
  for (std::size_t i = 0; i < devices; ++i)
    for (const auto& each : device_values)
      line += fmt::format(",{}", i < s.devices.size() ? each.of(s.devices[i]) : std::string());
  return line + "\n";
}

}  // namespace

TimelineForm timeline_form_of(std::string_view path) {
  return path.ends_with(".csv") ? TimelineForm::csv : TimelineForm::json_lines;
}

std::string timeline_header(TimelineForm form, const std::vector<std::uint32_t>& indexes) {
  if (form == TimelineForm::json_lines) return {};
  std::string line = "offset_s,unix_time_ns";
  for (const auto& each : host_values) line += fmt::format(",{}", each.key);
  for (const auto index : indexes)
    for (const auto& each : device_values) line += fmt::format(",gpu{}_{}", index, each.key);
  return line + "\n";
}

std::string timeline_line(TimelineForm form, const RunSample& sample,
                          const std::vector<std::uint32_t>& indexes) {
  return form == TimelineForm::csv ? csv_line(sample, indexes.size()) : json_line(sample, indexes);
}

}  // namespace hmn::cli
