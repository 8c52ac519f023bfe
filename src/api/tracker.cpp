// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/tracker.hpp"

#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t default_tag_capacity = 64;
constexpr std::uint32_t max_tag_capacity = 65536;
using TagName = Text<Tracker::max_name_size + 1>;

Result<void> read_options(const hmn_tracker_options* input, hmn_tracker_options& options) {
  if (Result<void> ok = read_input(input, options); !ok) return ok;
  if (Result<void> ok = check_flags(options.flags, HMN_TRACKER_LIMITED); !ok) return ok;
  if (Result<void> ok = check_reserved(options.reserved0); !ok) return ok;
  if ((options.flags & HMN_TRACKER_LIMITED) == 0) {
    if (options.limit_bytes != 0) {
      return make_failure(Status::argument,
                          {"limit_bytes: ", options.limit_bytes, " is set without its flag"});
    }
    options.limit_bytes = unlimited;
  }
  if (options.tag_capacity > max_tag_capacity) {
    return make_failure(Status::range,
                        {"tag_capacity: ", options.tag_capacity, " is above ", max_tag_capacity});
  }
  if (options.tag_capacity == 0) options.tag_capacity = default_tag_capacity;
  return {};
}

Result<void> check_tracker(hmn_tracker* handle) {
  return check_handle(handle != nullptr, false, "tracker");
}

Failure no_such_tag(std::uint32_t tag) {
  return make_failure(Status::range, {"tag: the tracker has no tag ", tag});
}

Failure explain_refusal(const Tracker& tracker, Status status, std::uint32_t tag,
                        std::uint64_t bytes) {
  if (status == Status::limit) return tracker.limit_failure(bytes);
  if (tag != 0 && !tracker.has_tag(tag)) return no_such_tag(tag);
  return make_failure(Status::range, {"bytes: ", bytes, " is more than is allocated"});
}

using ChangeCall = Status (Tracker::*)(std::uint32_t tag, std::uint64_t bytes) noexcept;

hmn_status change_and_report(hmn_tracker* handle, std::uint32_t tag, std::uint64_t bytes,
                             hmn_error* error, ChangeCall method) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    const Status status = (object(handle).*method)(tag, bytes);
    if (status == Status::ok) return {};
    return explain_refusal(object(handle), status, tag, bytes);
  });
}

// Skips the guard for frequent calls that succeed, as these cannot throw.
template <ChangeCall method>
hmn_status change(hmn_tracker* handle, std::uint32_t tag, std::uint64_t bytes,
                  hmn_error* error) noexcept {
  if (handle == nullptr || error != nullptr)
    return change_and_report(handle, tag, bytes, error, method);
  return static_cast<hmn_status>((object(handle).*method)(tag, bytes));
}

hmn_status run_with_tracker(hmn_tracker* handle, hmn_error* error,
                            FunctionRef<Result<void>(Tracker&)> body) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    return body(object(handle));
  });
}

template <class T, class Read>
hmn_status read_tracker(hmn_tracker* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill(out, error, [&](T& result) -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    return read(object(handle), result);
  });
}

void copy_info(const Tracker& tracker, hmn_tracker_info& out) {
  const TrackerReport report = tracker.report();
  if (tracker.is_linked()) out.present |= HMN_TRACKER_INFO_HAS_DEVICE;
  out.device_index = tracker.device_index();
  out.tag_count = report.tag_count;
  if (report.budget.limit != unlimited) {
    out.present |= HMN_TRACKER_INFO_HAS_LIMIT;
    out.limit_bytes = report.budget.limit;
  }
  out.allocated_bytes = report.budget.bytes.allocated;
  out.peak_bytes = report.budget.bytes.peak;
  out.refused_count = report.refused_count;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_tracker_create(hmn_context* context, uint32_t device_index,
                              const hmn_tracker_options* options, hmn_tracker** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return run_guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    if (context != nullptr) {
      if (Result<void> ok = check_context(context); !ok) return ok;
    } else if (device_index != 0) {
      return make_failure(Status::argument,
                          {"device_index: ", device_index, " is set without a context"});
    }
    hmn_tracker_options full_options{};
    if (Result<void> ok = read_options(options, full_options); !ok) return ok;
    *out = make_handle(std::make_unique<Tracker>(
        context != nullptr ? get_shared_context(context) : SharedContext(), device_index,
        full_options.limit_bytes, full_options.tag_capacity));
    return {};
  });
}

void hmn_tracker_destroy(hmn_tracker* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_tracker_allocate(hmn_tracker* handle, uint64_t bytes, hmn_error* error) noexcept {
  return change<&Tracker::allocate>(handle, 0, bytes, error);
}

hmn_status hmn_tracker_release(hmn_tracker* handle, uint64_t bytes, hmn_error* error) noexcept {
  return change<&Tracker::release>(handle, 0, bytes, error);
}

hmn_status hmn_tracker_tag(hmn_tracker* handle, const char* name, uint32_t* out,
                           hmn_error* error) noexcept {
  clear_out(out);
  return run_with_tracker(handle, error, [&](Tracker& tracker) -> Result<void> {
    if (name == nullptr) return make_null_failure("name is NULL");
    if (out == nullptr) return make_null_failure("out is NULL");
    const TagName tag_name((std::string_view(name)));
    if (tag_name.empty() || tag_name.view() != name) {
      return make_null_failure("name: expected UTF-8 of 1 to 63 bytes");
    }
    Result<std::uint32_t> tag = tracker.tag(tag_name.view());
    if (!tag) return tag.failure();
    *out = *tag;
    return {};
  });
}

hmn_status hmn_tracker_allocate_tagged(hmn_tracker* handle, uint32_t tag, uint64_t bytes,
                                       hmn_error* error) noexcept {
  return change<&Tracker::allocate>(handle, tag, bytes, error);
}

hmn_status hmn_tracker_release_tagged(hmn_tracker* handle, uint32_t tag, uint64_t bytes,
                                      hmn_error* error) noexcept {
  return change<&Tracker::release>(handle, tag, bytes, error);
}

hmn_status hmn_tracker_would_fit(hmn_tracker* handle, uint64_t bytes, hmn_error* error) noexcept {
  return run_with_tracker(handle, error, [&](Tracker& t) { return t.would_fit(bytes); });
}

hmn_status hmn_tracker_set_limit(hmn_tracker* handle, uint64_t limit_bytes,
                                 hmn_error* error) noexcept {
  return run_with_tracker(handle, error, [&](Tracker& tracker) -> Result<void> {
    if (tracker.set_limit(limit_bytes)) return {};
    return make_failure(Status::limit,
                        {"limit_bytes: ", limit_bytes, " is less than is allocated"});
  });
}

hmn_status hmn_tracker_read(hmn_tracker* handle, hmn_tracker_info* out, hmn_error* error) noexcept {
  return read_tracker(handle, out, error,
                      [](const Tracker& tracker, hmn_tracker_info& result) -> Result<void> {
                        copy_info(tracker, result);
                        return {};
                      });
}

hmn_status hmn_tracker_read_tag(hmn_tracker* handle, uint32_t tag, hmn_tag* out,
                                hmn_error* error) noexcept {
  return read_tracker(
      handle, out, error, [&](const Tracker& tracker, hmn_tag& result) -> Result<void> {
        if (!tracker.has_tag(tag)) return no_such_tag(tag);
        const TagReport report = tracker.read_tag(tag);
        result.number = tag;
        result.allocated_bytes = report.bytes.allocated;
        result.peak_bytes = report.bytes.peak;
        copy_text(result.name, TagName(std::string_view(report.name)), result.notes);
        return {};
      });
}

hmn_status hmn_tracker_reset(hmn_tracker* handle, hmn_error* error) noexcept {
  return run_with_tracker(handle, error, [](Tracker& tracker) -> Result<void> {
    tracker.reset();
    return {};
  });
}
