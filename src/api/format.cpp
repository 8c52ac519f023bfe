// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "core/format.hpp"
#include "core/report.hpp"
#include "core/snapshot_json.hpp"
#include "model/message_text.hpp"

namespace hmn::api {

std::string_view select_unit(hmn_flags flags) noexcept {
  return (flags & HMN_LINE_MB) != 0 ? "MB" : "MiB";
}

namespace {

Result<void> append_device_line(std::string& text, const hmn_snapshot* handle, std::uint32_t index,
                                std::uint32_t format, hmn_flags flags) {
  if (handle == nullptr) return make_null_failure("snapshot is NULL");
  if (format < HMN_FORMAT_FREE || format > HMN_FORMAT_USED) {
    return make_failure(Status::range, {"format: ", format, " is not a known format"});
  }
  if (Result<void> ok = check_flags(flags, HMN_LINE_MB); !ok) return ok;
  return append_device(text, object(handle), index, static_cast<DeviceFormat>(format),
                       select_unit(flags));
}

Result<void> check_snapshots(const hmn_snapshot* before, const hmn_snapshot* after) {
  if (before == nullptr) return make_null_failure("before is NULL");
  return after != nullptr ? Result<void>() : make_null_failure("after is NULL");
}

void copy_delta(const Delta& delta, hmn_delta& out) {
  out.notes = delta.notes;
  out.backend = static_cast<std::uint32_t>(delta.source);
  out.device_index = delta.device_index;
  out.scope = static_cast<std::uint32_t>(delta.scope);
  out.accounting = static_cast<std::uint32_t>(delta.accounting);
  set_if_known(out.present, HMN_DELTA_HAS_MEMORY, out.memory_bytes, delta.memory_bytes);
  set_if_known(out.present, HMN_DELTA_HAS_DEVICE, out.device_bytes, delta.device_bytes);
  set_if_known(out.present, HMN_DELTA_HAS_ENERGY, out.energy_joules, delta.energy_joules);
  out.elapsed_ns = delta.elapsed_ns;
}

using AppendReport = Result<void> (*)(std::string&, const Snapshot&, const Snapshot&, std::uint32_t,
                                      std::string_view, std::string_view);

hmn_status write_report(const hmn_snapshot* before, const hmn_snapshot* after, std::uint32_t index,
                        const char* label, hmn_flags flags, const TextOut& out, hmn_error* error,
                        AppendReport append) noexcept {
  return write_text(out, error, [&](std::string& text) -> Result<void> {
    if (Result<void> ok = check_snapshots(before, after); !ok) return ok;
    if (label == nullptr) return make_null_failure("label is NULL");
    if (Result<void> ok = check_flags(flags, HMN_LINE_MB); !ok) return ok;
    return append(text, object(before), object(after), index, label, select_unit(flags));
  });
}

}  // namespace

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_format_device(const hmn_snapshot* handle, uint32_t device_index, uint32_t format,
                             hmn_flags flags, char* buffer, uint32_t capacity, uint32_t* needed,
                             hmn_error* error) noexcept {
  return write_text({buffer, capacity, needed}, error, [&](std::string& text) {
    return append_device_line(text, handle, device_index, format, flags);
  });
}

hmn_status hmn_format_json(const hmn_snapshot* handle, hmn_flags flags, char* buffer,
                           uint32_t capacity, uint32_t* needed, hmn_error* error) noexcept {
  const TextOut out{buffer, capacity, needed};
  return out.fill(error, [&](std::span<char> destination) -> Result<std::size_t> {
    if (handle == nullptr) return make_null_failure("snapshot is NULL");
    if (Result<void> ok = check_flags(flags); !ok) return ok.failure();
    return write_json(destination, object(handle));
  });
}

hmn_status hmn_format_bytes(uint64_t bytes, char* buffer, uint32_t capacity, uint32_t* needed,
                            hmn_error* error) noexcept {
  return write_text({buffer, capacity, needed}, error, [&](std::string& text) -> Result<void> {
    append_bytes(text, bytes);
    return {};
  });
}

hmn_status hmn_delta_read(const hmn_snapshot* before, const hmn_snapshot* after,
                          uint32_t device_index, hmn_delta* out, hmn_error* error) noexcept {
  return fill(out, error, [&](hmn_delta& result) -> Result<void> {
    if (Result<void> ok = check_snapshots(before, after); !ok) return ok;
    const Result<Delta> delta = compare(object(before), object(after), device_index);
    if (!delta) return delta.failure();
    copy_delta(*delta, result);
    return {};
  });
}

hmn_status hmn_report_delta(const hmn_snapshot* before, const hmn_snapshot* after,
                            uint32_t device_index, const char* label, hmn_flags flags, char* buffer,
                            uint32_t capacity, uint32_t* needed, hmn_error* error) noexcept {
  return write_report(before, after, device_index, label, flags, {buffer, capacity, needed}, error,
                      append_delta);
}

hmn_status hmn_report_before_after(const hmn_snapshot* before, const hmn_snapshot* after,
                                   uint32_t device_index, const char* label, hmn_flags flags,
                                   char* buffer, uint32_t capacity, uint32_t* needed,
                                   hmn_error* error) noexcept {
  return write_report(before, after, device_index, label, flags, {buffer, capacity, needed}, error,
                      append_before_after);
}
