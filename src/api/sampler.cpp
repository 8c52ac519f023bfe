// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn::api {
namespace {

constexpr hmn_flags usual_values = subject::devices | subject::pools | subject::telemetry;
constexpr std::uint64_t usual_interval_ns = platform::ns_per_second;
constexpr std::uint32_t usual_capacity = 64;
constexpr std::uint32_t largest_capacity = 65536;

Result<void> read_options(const hmn_sampler_options* options, Sampling& how) {
  hmn_sampler_options o{};
  if (Result<void> ok = read_input(options, o); !ok) return ok;
  if (Result<void> ok = check_flags(o.flags, HMN_SAMPLER_PEAKS_ONLY); !ok) return ok;
  if (Result<void> ok = check_reserved(o.reserved0); !ok) return ok;
  if (o.capacity > largest_capacity) {
    return failed(Status::range, {"capacity: ", o.capacity, " is above ", largest_capacity});
  }
  if (o.interval_ns == HMN_NS_UNLIMITED || o.interval_ns == HMN_NS_IMMEDIATE) {
    return failed(Status::range, {"interval_ns: ", o.interval_ns,
                                  ", expected an interval, not unlimited or immediate"});
  }
  if (o.process_interval_ns == HMN_NS_UNLIMITED) {
    return failed(Status::range, {"process_interval_ns: ", o.process_interval_ns,
                                  ", expected an interval, not unlimited"});
  }
  how.interval_ns = how.process_interval_ns = usual_interval_ns;
  if (Result<void> ok = read_duration("interval_ns", o.interval_ns, how.interval_ns); !ok) {
    return ok;
  }
  if (Result<void> ok =
          read_duration("process_interval_ns", o.process_interval_ns, how.process_interval_ns);
      !ok) {
    return ok;
  }
  how.capacity = o.capacity != 0 ? o.capacity : usual_capacity;
  how.peaks_only = (o.flags & HMN_SAMPLER_PEAKS_ONLY) != 0;
  return {};
}

void copy_info(const SamplerReport& r, hmn_sampler_info& out) {
  out.state = static_cast<std::uint32_t>(r.state);
  out.pending = r.pending;
  out.taken_count = r.taken;
  out.dropped_count = r.dropped;
  out.late_count = r.late;
  out.failed_count = r.failed;
  give(out.present, HMN_SAMPLER_INFO_HAS_LAST, out.last_monotonic_ns, r.last_monotonic_ns);
  out.last_status = static_cast<hmn_status>(r.last_status);
}

void copy_peak(const Peak& p, hmn_peak& out) {
  out.notes = p.notes;
  out.backend = static_cast<std::uint32_t>(p.from);
  out.device_index = p.device_index;
  out.pid = p.pid;
  out.accounting = static_cast<std::uint32_t>(p.accounting);
  out.used_monotonic_ns = p.used_monotonic_ns;
  give(out.present, HMN_PEAK_HAS_USED, out.used_bytes, p.used);
  give(out.present, HMN_PEAK_HAS_HOST_POOL, out.host_pool_bytes, p.host_pool);
  give(out.present, HMN_PEAK_HAS_HOST_RESIDENT, out.host_resident_bytes, p.host_resident);
}

Failure no_such_device(std::uint32_t index) {
  return failed(Status::no_device, {"no snapshot of the sampler has had a device ", index});
}

Failure none_yet() {
  return failed(Status::empty, "the sampler has no such values");
}

Failure none_of(LatestBoard::Answer said, std::uint32_t index) {
  return said == LatestBoard::Answer::no_device ? no_such_device(index) : none_yet();
}

// One of latest_board's functions.
template <class T>
using Look = LatestBoard::Answer (LatestBoard::*)(std::uint32_t, T&) const noexcept;

template <class T>
hmn_status latest_of(hmn_sampler* handle, std::uint32_t index, T* out, hmn_error* error,
                     Look<T> at) noexcept {
  return fill_from(handle, out, error, [&](const Sampler& s, T& full) -> Result<void> {
    const LatestBoard::Answer said = (s.latest().*at)(index, full);
    if (said != LatestBoard::Answer::here) return none_of(said, index);
    return {};
  });
}

hmn_status with_sampler(hmn_sampler* handle, hmn_error* error,
                        FunctionRef<Result<void>(Sampler&)> body) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_sampler(handle); !ok) return ok;
    return body(object(handle));
  });
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_sampler_create(hmn_context* handle, const hmn_sampler_options* options,
                              const hmn_snapshot_options* what, hmn_sampler** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](Context&) -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    Sampling how;
    if (Result<void> ok = read_options(options, how); !ok) return ok;
    SnapshotRequest request;
    if (Result<void> ok = read_request(what, usual_values, request); !ok) return ok;
    *out = handle_of(std::make_unique<Sampler>(shared(handle), how, request));
    return {};
  });
}

void hmn_sampler_destroy(hmn_sampler* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_sampler_start(hmn_sampler* handle, hmn_error* error) noexcept {
  return with_sampler(handle, error, [](Sampler& s) { return s.start(); });
}

hmn_status hmn_sampler_stop(hmn_sampler* handle, hmn_error* error) noexcept {
  return with_sampler(handle, error, [](Sampler& s) { return s.stop(); });
}

hmn_status hmn_sampler_next(hmn_sampler* handle, uint64_t timeout_ns, hmn_snapshot** out,
                            hmn_error* error) noexcept {
  clear_out(out);
  return with_sampler(handle, error, [&](Sampler& s) -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    Result<std::unique_ptr<Snapshot>> next = s.next(timeout_ns);
    if (!next) return next.why();
    *out = handle_of(std::move(*next));
    return {};
  });
}

hmn_status hmn_sampler_handle(hmn_sampler* handle, int64_t* out, hmn_error* error) noexcept {
  if (out != nullptr) *out = -1;
  return with_sampler(handle, error, [&](Sampler& s) -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    const Result<std::int64_t> made = s.handle();
    if (!made) return made.why();
    *out = *made;
    return {};
  });
}

hmn_status hmn_sampler_read(hmn_sampler* handle, hmn_sampler_info* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [](const Sampler& s, hmn_sampler_info& full) -> Result<void> {
                     copy_info(s.report(), full);
                     return {};
                   });
}

hmn_status hmn_sampler_latest_pool(hmn_sampler* handle, uint32_t device_index, hmn_pool* out,
                                   hmn_error* error) noexcept {
  return latest_of(handle, device_index, out, error, &LatestBoard::main_pool);
}

hmn_status hmn_sampler_latest_telemetry(hmn_sampler* handle, uint32_t device_index,
                                        hmn_telemetry* out, hmn_error* error) noexcept {
  return latest_of(handle, device_index, out, error, &LatestBoard::telemetry);
}

hmn_status hmn_sampler_peak(hmn_sampler* handle, uint32_t device_index, uint32_t pid, hmn_peak* out,
                            hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Sampler& s, hmn_peak& full) -> Result<void> {
    if (pid == 0) return failed(Status::range, "pid: 0 is not a process");
    std::optional<Peak> found;
    if (!s.find_peak(device_index, pid, found)) return no_such_device(device_index);
    if (!found) {
      return failed(Status::no_process,
                    {"process ", pid, " was not seen on device ", device_index});
    }
    copy_peak(*found, full);
    return {};
  });
}

hmn_status hmn_sampler_peak_device(hmn_sampler* handle, uint32_t device_index, hmn_peak* out,
                                   hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Sampler& s, hmn_peak& full) -> Result<void> {
    std::optional<Peak> found;
    if (!s.find_peak(device_index, 0, found)) return no_such_device(device_index);
    if (!found->used && !found->host_pool) return none_yet();
    copy_peak(*found, full);
    return {};
  });
}
