// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/tracker.hpp"

#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t usual_tags = 64;
constexpr std::uint32_t most_tags = 65536;
using TagName = Text<Tracker::longest_name + 1>;

Result<void> read_options(const hmn_tracker_options* options, hmn_tracker_options& o) {
  if (Result<void> ok = read_input(options, o); !ok) return ok;
  if (Result<void> ok = check_flags(o.flags, HMN_TRACKER_LIMITED); !ok) return ok;
  if (Result<void> ok = check_reserved(o.reserved0); !ok) return ok;
  if ((o.flags & HMN_TRACKER_LIMITED) == 0) {
    if (o.limit_bytes != 0) {
      return failed(Status::argument, {"limit_bytes: ", o.limit_bytes, " is set without its flag"});
    }
    o.limit_bytes = unlimited;
  }
  if (o.tag_capacity > most_tags) {
    return failed(Status::range, {"tag_capacity: ", o.tag_capacity, " is above ", most_tags});
  }
  if (o.tag_capacity == 0) o.tag_capacity = usual_tags;
  return {};
}

Result<void> check_tracker(hmn_tracker* handle) {
  return check_usable(handle != nullptr, false, "tracker");
}

Failure no_such_tag(std::uint32_t tag) {
  return failed(Status::range, {"tag: the tracker has no tag ", tag});
}

Failure why_not(const Tracker& t, Status said, std::uint32_t tag, std::uint64_t bytes) {
  if (said == Status::limit) return t.exceeded(bytes);
  if (tag != 0 && !t.has_tag(tag)) return no_such_tag(tag);
  return failed(Status::range, {"bytes: ", bytes, " is more than is allocated"});
}

using ChangeCall = Status (Tracker::*)(std::uint32_t tag, std::uint64_t bytes) noexcept;

hmn_status change_and_report(hmn_tracker* handle, std::uint32_t tag, std::uint64_t bytes,
                             hmn_error* error, ChangeCall by) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    const Status said = (object(handle).*by)(tag, bytes);
    if (said == Status::ok) return {};
    return why_not(object(handle), said, tag, bytes);
  });
}

// Skips the guard for frequent calls that succeed, as these cannot throw.
template <ChangeCall by>
hmn_status change(hmn_tracker* handle, std::uint32_t tag, std::uint64_t bytes,
                  hmn_error* error) noexcept {
  if (handle == nullptr || error != nullptr)
    return change_and_report(handle, tag, bytes, error, by);
  return static_cast<hmn_status>((object(handle).*by)(tag, bytes));
}

hmn_status with_tracker(hmn_tracker* handle, hmn_error* error,
                        FunctionRef<Result<void>(Tracker&)> body) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    return body(object(handle));
  });
}

template <class T, class Read>
hmn_status read_tracker(hmn_tracker* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill(out, error, [&](T& full) -> Result<void> {
    if (Result<void> ok = check_tracker(handle); !ok) return ok;
    return read(object(handle), full);
  });
}

void copy_info(const Tracker& t, hmn_tracker_info& out) {
  const TrackerReport r = t.report();
  if (t.is_linked()) out.present |= HMN_TRACKER_INFO_HAS_DEVICE;
  out.device_index = t.device_index();
  out.tag_count = r.tags;
  if (r.budget.limit != unlimited) {
    out.present |= HMN_TRACKER_INFO_HAS_LIMIT;
    out.limit_bytes = r.budget.limit;
  }
  out.allocated_bytes = r.budget.bytes.allocated;
  out.peak_bytes = r.budget.bytes.peak;
  out.refused_count = r.refused;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_tracker_create(hmn_context* context, uint32_t device_index,
                              const hmn_tracker_options* options, hmn_tracker** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    if (context != nullptr) {
      if (Result<void> ok = check_context(context); !ok) return ok;
    } else if (device_index != 0) {
      return failed(Status::argument,
                    {"device_index: ", device_index, " is set without a context"});
    }
    hmn_tracker_options o{};
    if (Result<void> ok = read_options(options, o); !ok) return ok;
    *out =
        handle_of(std::make_unique<Tracker>(context != nullptr ? shared(context) : SharedContext(),
                                            device_index, o.limit_bytes, o.tag_capacity));
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
  return with_tracker(handle, error, [&](Tracker& t) -> Result<void> {
    if (name == nullptr) return null_argument("name is NULL");
    if (out == nullptr) return null_argument("out is NULL");
    const TagName kept((std::string_view(name)));
    if (kept.empty() || kept.view() != name) {
      return null_argument("name: expected UTF-8 of 1 to 63 bytes");
    }
    Result<std::uint32_t> tag = t.tag(kept.view());
    if (!tag) return tag.why();
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
  return with_tracker(handle, error, [&](Tracker& t) { return t.would_fit(bytes); });
}

hmn_status hmn_tracker_set_limit(hmn_tracker* handle, uint64_t limit_bytes,
                                 hmn_error* error) noexcept {
  return with_tracker(handle, error, [&](Tracker& t) -> Result<void> {
    if (t.set_limit(limit_bytes)) return {};
    return failed(Status::limit, {"limit_bytes: ", limit_bytes, " is less than is allocated"});
  });
}

hmn_status hmn_tracker_read(hmn_tracker* handle, hmn_tracker_info* out, hmn_error* error) noexcept {
  return read_tracker(handle, out, error,
                      [](const Tracker& t, hmn_tracker_info& full) -> Result<void> {
                        copy_info(t, full);
                        return {};
                      });
}

hmn_status hmn_tracker_read_tag(hmn_tracker* handle, uint32_t tag, hmn_tag* out,
                                hmn_error* error) noexcept {
  return read_tracker(handle, out, error, [&](const Tracker& t, hmn_tag& full) -> Result<void> {
    if (!t.has_tag(tag)) return no_such_tag(tag);
    const TagReport r = t.read_tag(tag);
    full.number = tag;
    full.allocated_bytes = r.bytes.allocated;
    full.peak_bytes = r.bytes.peak;
    copy_text(full.name, TagName(std::string_view(r.name)), full.notes);
    return {};
  });
}

hmn_status hmn_tracker_reset(hmn_tracker* handle, hmn_error* error) noexcept {
  return with_tracker(handle, error, [](Tracker& t) -> Result<void> {
    t.reset();
    return {};
  });
}
