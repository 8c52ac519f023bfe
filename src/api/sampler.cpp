// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn::api {
namespace {

constexpr hmn_flags default_sampler_subjects =
    subject::devices | subject::pools | subject::telemetry;
constexpr std::uint64_t default_interval_ns = platform::ns_per_second;
constexpr std::uint32_t default_capacity = 64;
constexpr std::uint32_t max_capacity = 65536;

Result<void> read_options(const hmn_sampler_options* input, SamplerSettings& settings) {
  hmn_sampler_options options{};
  if (Result<void> ok = read_input(input, options); !ok) return ok;
  if (Result<void> ok = check_flags(options.flags, HMN_SAMPLER_PEAKS_ONLY); !ok) return ok;
  if (Result<void> ok = check_reserved(options.reserved0); !ok) return ok;
  if (options.capacity > max_capacity) {
    return make_failure(Status::range,
                        {"capacity: ", options.capacity, " is above ", max_capacity});
  }
  if (options.interval_ns == HMN_NS_UNLIMITED || options.interval_ns == HMN_NS_IMMEDIATE) {
    return make_failure(Status::range, {"interval_ns: ", options.interval_ns,
                                        ", expected an interval, not unlimited or immediate"});
  }
  if (options.process_interval_ns == HMN_NS_UNLIMITED) {
    return make_failure(Status::range, {"process_interval_ns: ", options.process_interval_ns,
                                        ", expected an interval, not unlimited"});
  }
  settings.interval_ns = settings.process_interval_ns = default_interval_ns;
  if (Result<void> ok = read_duration("interval_ns", options.interval_ns, settings.interval_ns);
      !ok) {
    return ok;
  }
  if (Result<void> ok = read_duration("process_interval_ns", options.process_interval_ns,
                                      settings.process_interval_ns);
      !ok) {
    return ok;
  }
  settings.capacity = options.capacity != 0 ? options.capacity : default_capacity;
  settings.peaks_only = (options.flags & HMN_SAMPLER_PEAKS_ONLY) != 0;
  return {};
}

void copy_info(const SamplerReport& report, hmn_sampler_info& out) {
  out.state = static_cast<std::uint32_t>(report.state);
  out.pending = report.pending;
  out.taken_count = report.taken_count;
  out.dropped_count = report.dropped_count;
  out.late_count = report.late_count;
  out.failed_count = report.failed_count;
  set_if_known(out.present, HMN_SAMPLER_INFO_HAS_LAST, out.last_monotonic_ns,
               report.last_monotonic_ns);
  out.last_status = static_cast<hmn_status>(report.last_status);
}

void copy_peak(const Peak& peak, hmn_peak& out) {
  out.notes = peak.notes;
  out.backend = static_cast<std::uint32_t>(peak.source);
  out.device_index = peak.device_index;
  out.pid = peak.pid;
  out.accounting = static_cast<std::uint32_t>(peak.accounting);
  out.used_monotonic_ns = peak.used_monotonic_ns;
  set_if_known(out.present, HMN_PEAK_HAS_USED, out.used_bytes, peak.used);
  set_if_known(out.present, HMN_PEAK_HAS_HOST_POOL, out.host_pool_bytes, peak.host_pool);
  set_if_known(out.present, HMN_PEAK_HAS_HOST_RESIDENT, out.host_resident_bytes,
               peak.host_resident);
}

Failure make_device_failure(std::uint32_t index) {
  return make_failure(Status::no_device, {"no snapshot of the sampler contains device ", index});
}

Failure make_no_values_failure() {
  return make_failure(Status::empty, "the sampler has no such values");
}

Failure explain_absence(LatestBoard::Answer answer, std::uint32_t index) {
  return answer == LatestBoard::Answer::no_device ? make_device_failure(index)
                                                  : make_no_values_failure();
}

// Member function of LatestBoard that reads a record of one device.
template <class T>
using BoardReader = LatestBoard::Answer (LatestBoard::*)(std::uint32_t, T&) const noexcept;

template <class T>
hmn_status read_latest(hmn_sampler* handle, std::uint32_t index, T* out, hmn_error* error,
                       BoardReader<T> reader) noexcept {
  return fill_from(handle, out, error, [&](const Sampler& sampler, T& result) -> Result<void> {
    const LatestBoard::Answer answer = (sampler.latest().*reader)(index, result);
    if (answer != LatestBoard::Answer::available) return explain_absence(answer, index);
    return {};
  });
}

hmn_status run_with_sampler(hmn_sampler* handle, hmn_error* error,
                            FunctionRef<Result<void>(Sampler&)> body) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_sampler(handle); !ok) return ok;
    return body(object(handle));
  });
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_sampler_create(hmn_context* handle, const hmn_sampler_options* options,
                              const hmn_snapshot_options* request_options, hmn_sampler** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return run_with_context(handle, error, [&](Context&) -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    SamplerSettings settings;
    if (Result<void> ok = read_options(options, settings); !ok) return ok;
    SnapshotRequest request;
    if (Result<void> ok = read_request(request_options, default_sampler_subjects, request); !ok)
      return ok;
    *out = make_handle(std::make_unique<Sampler>(get_shared_context(handle), settings, request));
    return {};
  });
}

void hmn_sampler_destroy(hmn_sampler* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_sampler_start(hmn_sampler* handle, hmn_error* error) noexcept {
  return run_with_sampler(handle, error, [](Sampler& s) { return s.start(); });
}

hmn_status hmn_sampler_stop(hmn_sampler* handle, hmn_error* error) noexcept {
  return run_with_sampler(handle, error, [](Sampler& s) { return s.stop(); });
}

hmn_status hmn_sampler_next(hmn_sampler* handle, uint64_t timeout_ns, hmn_snapshot** out,
                            hmn_error* error) noexcept {
  clear_out(out);
  return run_with_sampler(handle, error, [&](Sampler& sampler) -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    Result<std::unique_ptr<Snapshot>> next = sampler.next(timeout_ns);
    if (!next) return next.failure();
    *out = make_handle(std::move(*next));
    return {};
  });
}

hmn_status hmn_sampler_handle(hmn_sampler* handle, int64_t* out, hmn_error* error) noexcept {
  if (out != nullptr) *out = -1;
  return run_with_sampler(handle, error, [&](Sampler& sampler) -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    const Result<std::int64_t> native_handle = sampler.handle();
    if (!native_handle) return native_handle.failure();
    *out = *native_handle;
    return {};
  });
}

hmn_status hmn_sampler_read(hmn_sampler* handle, hmn_sampler_info* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [](const Sampler& sampler, hmn_sampler_info& result) -> Result<void> {
                     copy_info(sampler.report(), result);
                     return {};
                   });
}

hmn_status hmn_sampler_latest_pool(hmn_sampler* handle, uint32_t device_index, hmn_pool* out,
                                   hmn_error* error) noexcept {
  return read_latest(handle, device_index, out, error, &LatestBoard::main_pool);
}

hmn_status hmn_sampler_latest_telemetry(hmn_sampler* handle, uint32_t device_index,
                                        hmn_telemetry* out, hmn_error* error) noexcept {
  return read_latest(handle, device_index, out, error, &LatestBoard::telemetry);
}

hmn_status hmn_sampler_peak(hmn_sampler* handle, uint32_t device_index, uint32_t pid, hmn_peak* out,
                            hmn_error* error) noexcept {
  return fill_from(
      handle, out, error, [&](const Sampler& sampler, hmn_peak& result) -> Result<void> {
        if (pid == 0) return make_failure(Status::range, "pid: 0 is not a process");
        std::optional<Peak> peak;
        if (!sampler.find_peak(device_index, pid, peak)) return make_device_failure(device_index);
        if (!peak) {
          return make_failure(Status::no_process,
                              {"process ", pid, " was not seen on device ", device_index});
        }
        copy_peak(*peak, result);
        return {};
      });
}

hmn_status hmn_sampler_peak_device(hmn_sampler* handle, uint32_t device_index, hmn_peak* out,
                                   hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](const Sampler& sampler, hmn_peak& result) -> Result<void> {
                     std::optional<Peak> peak;
                     if (!sampler.find_peak(device_index, 0, peak))
                       return make_device_failure(device_index);
                     if (!peak->used && !peak->host_pool) return make_no_values_failure();
                     copy_peak(*peak, result);
                     return {};
                   });
}
