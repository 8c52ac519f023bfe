// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/format.hpp"

#include <hypomnesis.h>

#include "api/guard.hpp"
#include "core/json.hpp"
#include "model/compose.hpp"

namespace hmn::api {
namespace {

result<std::string> device_line(const hmn_snapshot* handle, std::uint32_t i, std::uint32_t format) {
  if (handle == nullptr) return null_argument("snapshot is NULL");
  const snapshot& s = object(handle);
  if (i >= s.devices.size()) {
    return failed(status::range, {i, " is past the end: ", s.devices.size(), " devices"});
  }
  if (format < HMN_FORMAT_FREE || format > HMN_FORMAT_USED) {
    return failed(status::range, {format, " is no HMN_FORMAT_*"});
  }
  std::string line;
  if (result<void> ok = append_device(line, s, i, static_cast<device_format>(format)); !ok) {
    return std::move(ok.why());
  }
  return line;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_format_device(const hmn_snapshot* handle, uint32_t i, uint32_t format, char* buffer,
                             uint32_t capacity, uint32_t* needed) noexcept {
  return write_text({buffer, capacity, needed}, [&] { return device_line(handle, i, format); });
}

hmn_status hmn_format_json(const hmn_snapshot* handle, char* buffer, uint32_t capacity,
                           uint32_t* needed) noexcept {
  return write_text({buffer, capacity, needed}, [&]() -> result<std::string> {
    if (handle == nullptr) return null_argument("snapshot is NULL");
    std::string text;
    append_json(text, object(handle));
    return text;
  });
}

hmn_status hmn_format_bytes(uint64_t bytes, char* buffer, uint32_t capacity,
                            uint32_t* needed) noexcept {
  return write_text({buffer, capacity, needed}, [&]() -> result<std::string> {
    std::string text;
    append_bytes(text, bytes);
    return text;
  });
}
