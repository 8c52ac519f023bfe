// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/handles.hpp"

#include <fmt/format.h>

#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"

namespace hmn::cli {
namespace {

failure failed_as(const hmn_error& error) {
  if (error.message[0] != 0) return failed(error.message);
  return failed(hmn_status_name(error.status));
}

template <class T, class Read>
std::vector<T> read_all(std::uint32_t count, Read read) {
  std::vector<T> all;
  all.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto one = sized<T>();
    if (read(i, &one) == HMN_OK) all.push_back(one);
  }
  return all;
}

// Calls a function of (buffer, capacity, *needed) until its text fits.
template <class Call>
hmn_status read_text(Call call, std::string& out) {
  std::uint32_t needed = 0;
  auto status = call(nullptr, 0, &needed);
  while (status == HMN_OK) {
    out.resize(needed);
    status = call(out.data(), needed, &needed);
    if (status == HMN_OK) {
      out.resize(needed - 1);
      return HMN_OK;
    }
    if (status == HMN_E_BUFFER) status = HMN_OK;
  }
  return status;
}

std::optional<failure> use_machine(hmn_context* handle, const std::string& path) {
  // A driver that is not here is no failure of the library's; a file that the user named is one.
  if (const auto refused = why_unreadable(path))
    return failed(fmt::format("--machine \"{}\": {}", path, *refused));
  const auto absolute = absolute_path(path);
  auto why = sized<hmn_error>();
  const auto status = hmn_context_set_path(handle, HMN_PATH_SIMULATION, absolute.c_str(), &why);
  if (status == HMN_OK) return std::nullopt;
  return failed(fmt::format("--machine \"{}\": {}", path, failed_as(why).message));
}

}  // namespace

context::context(hmn_context* owned, const context_settings& settings)
    : handle_(owned),
      ends_(clock::now() + std::chrono::milliseconds(settings.timeout_ms)),
      is_simulated_(!settings.machine.empty() || environment_value("HMN_SIMULATION").has_value()) {}

expected<context> context::open(const context_settings& settings) {
  auto options = sized<hmn_context_options>();
  options.flags = HMN_CONTEXT_ENVIRONMENT | (settings.trace ? hmn_flags{HMN_CONTEXT_TRACE} : 0u);
  if (settings.record) options.flags |= HMN_CONTEXT_RECORD;
  options.deadline_ms = settings.deadline_ms != 0 ? settings.deadline_ms : settings.timeout_ms;
  options.open_deadline_ms = settings.timeout_ms;
  auto why = sized<hmn_error>();
  hmn_context* handle = nullptr;
  if (hmn_context_create(&options, &handle, &why) != HMN_OK) return failed_as(why);
  context opened(handle, settings);
  if (settings.machine.empty()) return opened;
  if (auto refused = use_machine(handle, settings.machine)) return *std::move(refused);
  return opened;
}

std::uint32_t context::remaining_ms() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ends_ - clock::now());
  return left.count() < 1 ? 1 : static_cast<std::uint32_t>(left.count());
}

expected<snapshot> context::take(hmn_snapshot_options what) const {
  what.deadline_ms = remaining_ms();
  return take_by_deadline(what);
}

expected<snapshot> context::take_by_deadline(const hmn_snapshot_options& what) const {
  auto why = sized<hmn_error>();
  hmn_snapshot* taken = nullptr;
  if (hmn_snapshot_take(handle_.get(), &what, &taken, &why) != HMN_OK) return failed_as(why);
  return snapshot(taken, is_simulated_);
}

expected<std::uint32_t> context::device_count() const {
  auto why = sized<hmn_error>();
  std::uint32_t count = 0;
  if (hmn_device_count(handle_.get(), &count, &why) != HMN_OK) return failed_as(why);
  return count;
}

expected<std::uint32_t> context::find(const std::string& key) const {
  auto why = sized<hmn_error>();
  std::uint32_t index = 0;
  if (hmn_device_find(handle_.get(), key.c_str(), &index, &why) != HMN_OK) return failed_as(why);
  return index;
}

expected<hmn_device> context::device(std::uint32_t index) const {
  auto why = sized<hmn_error>();
  auto found = sized<hmn_device>();
  if (hmn_device_read(handle_.get(), index, &found, &why) != HMN_OK) return failed_as(why);
  return found;
}

hmn_status context::process_status(std::uint32_t pid) const {
  auto memory = sized<hmn_process_memory>();
  return hmn_process_memory_read(handle_.get(), pid, HMN_PROCESS_MEMORY_HAS_RESIDENT, &memory,
                                 nullptr);
}

std::optional<hmn_backend_info> context::backend(std::uint32_t number) const {
  auto info = sized<hmn_backend_info>();
  if (hmn_context_backend(handle_.get(), number, &info, nullptr) != HMN_OK) return std::nullopt;
  return info;
}

expected<std::string> context::recording() const {
  std::string text;
  const auto read = [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_context_recording(handle_.get(), buffer, capacity, needed);
  };
  const auto status = read_text(read, text);
  if (status == HMN_OK) return text;
  if (status == HMN_E_STATE) return failed("a simulated machine is not recorded");
  if (status == HMN_E_LIMIT) return failed("more was read than the 16 MiB of a machine file");
  return failed(hmn_status_name(status));
}

std::optional<hmn_backend_info> context::simulation() const {
  const auto info = backend(HMN_BACKEND_SIMULATED);
  if (!info || info->state == HMN_STATE_OFF || info->state == HMN_STATE_UNKNOWN)
    return std::nullopt;
  return info;
}

hmn_snapshot_info snapshot::info() const {
  auto out = sized<hmn_snapshot_info>();
  hmn_snapshot_read(handle_.get(), &out);
  return out;
}

std::optional<hmn_system_memory> snapshot::system() const {
  auto out = sized<hmn_system_memory>();
  if (hmn_snapshot_system(handle_.get(), &out) != HMN_OK) return std::nullopt;
  return out;
}

std::vector<hmn_device> snapshot::devices() const {
  return read_all<hmn_device>(info().device_count, [this](std::uint32_t i, hmn_device* out) {
    return hmn_snapshot_device(handle_.get(), i, out);
  });
}

std::vector<hmn_pool> snapshot::pools() const {
  return read_all<hmn_pool>(info().pool_count, [this](std::uint32_t i, hmn_pool* out) {
    return hmn_snapshot_pool(handle_.get(), i, out);
  });
}

std::vector<hmn_usage> snapshot::usages() const {
  return read_all<hmn_usage>(info().usage_count, [this](std::uint32_t i, hmn_usage* out) {
    return hmn_snapshot_usage(handle_.get(), i, out);
  });
}

std::vector<hmn_metric> snapshot::metrics() const {
  return read_all<hmn_metric>(info().metric_count, [this](std::uint32_t i, hmn_metric* out) {
    return hmn_snapshot_metric(handle_.get(), i, out);
  });
}

std::vector<hmn_diagnostic> snapshot::diagnostics() const {
  return read_all<hmn_diagnostic>(info().diagnostic_count,
                                  [this](std::uint32_t i, hmn_diagnostic* out) {
                                    return hmn_snapshot_diagnostic(handle_.get(), i, out);
                                  });
}

std::optional<hmn_telemetry> snapshot::telemetry(std::uint32_t device) const {
  auto out = sized<hmn_telemetry>();
  if (hmn_snapshot_telemetry(handle_.get(), device, &out) != HMN_OK) return std::nullopt;
  return out;
}

std::optional<std::string> snapshot::text(std::uint32_t which, std::uint32_t position) const {
  std::string found;
  const auto read = [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_snapshot_text(handle_.get(), which, position, buffer, capacity, needed);
  };
  if (read_text(read, found) != HMN_OK) return std::nullopt;
  return found;
}

expected<std::string> snapshot::json() const {
  std::string text;
  const auto read = [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_format_json(handle_.get(), buffer, capacity, needed);
  };
  const auto status = read_text(read, text);
  if (status != HMN_OK) return failed(hmn_status_name(status));
  return text;
}

}  // namespace hmn::cli
