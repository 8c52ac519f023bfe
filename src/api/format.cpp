// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/format.hpp"

#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "core/snapshot_json.hpp"
#include "model/compose.hpp"

namespace hmn::api {

std::string_view unit_from(hmn_flags flags) noexcept {
  return (flags & HMN_LINE_MB) != 0 ? "MB" : "MiB";
}

namespace {

result<void> device_line(std::string& text, const hmn_snapshot* handle, std::uint32_t index,
                         std::uint32_t format, hmn_flags flags) {
  if (handle == nullptr) return null_argument("snapshot is NULL");
  if (format < HMN_FORMAT_FREE || format > HMN_FORMAT_USED) {
    return failed(status::range, {format, " is no HMN_FORMAT_*"});
  }
  if (result<void> ok = check_flags(flags, HMN_LINE_MB); !ok) return ok;
  return append_device(text, object(handle), index, static_cast<device_format>(format),
                       unit_from(flags));
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_format_device(const hmn_snapshot* handle, uint32_t device_index, uint32_t format,
                             hmn_flags flags, char* buffer, uint32_t capacity,
                             uint32_t* needed) noexcept {
  return write_text({buffer, capacity, needed}, nullptr, [&](std::string& text) {
    return device_line(text, handle, device_index, format, flags);
  });
}

hmn_status hmn_format_json(const hmn_snapshot* handle, hmn_flags flags, char* buffer,
                           uint32_t capacity, uint32_t* needed) noexcept {
  const text_out out{buffer, capacity, needed};
  return out.fill(nullptr, [&](std::span<char> to) -> result<std::size_t> {
    if (handle == nullptr) return null_argument("snapshot is NULL");
    if (result<void> ok = check_flags(flags); !ok) return ok.why();
    return write_json(to, object(handle));
  });
}

hmn_status hmn_format_bytes(uint64_t bytes, char* buffer, uint32_t capacity,
                            uint32_t* needed) noexcept {
  return write_text({buffer, capacity, needed}, nullptr, [&](std::string& text) -> result<void> {
    append_bytes(text, bytes);
    return {};
  });
}
