// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/device_query.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "platform/posix/file.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

constexpr unsigned drm_type = 'd';
constexpr unsigned drm_command_base = 0x40;

// include/uapi/drm/i915_drm.h: struct drm_i915_query_item, struct drm_i915_query
struct I915QueryItem {
  uint64_t query_id = 0;
  int32_t length = 0;  // 0: the kernel writes the needed length; below 0: its errno
  uint32_t flags = 0;
  uint64_t data_ptr = 0;
};
static_assert(sizeof(I915QueryItem) == 24 && offsetof(I915QueryItem, length) == 8 &&
              offsetof(I915QueryItem, data_ptr) == 16);

struct I915Query {
  uint32_t num_items = 0;
  uint32_t flags = 0;
  uint64_t items_ptr = 0;
};
static_assert(sizeof(I915Query) == 16 && offsetof(I915Query, items_ptr) == 8);
constexpr unsigned long i915_query_request = _IOWR(drm_type, drm_command_base + 0x39, I915Query);
static_assert(i915_query_request == 0xC0106479);

// include/uapi/drm/xe_drm.h: struct drm_xe_device_query
struct XeDeviceQuery {
  uint64_t extensions = 0;
  uint32_t query = 0;
  uint32_t size = 0;  // 0: the kernel writes the needed length, the only other value it accepts
  uint64_t data = 0;
  uint64_t reserved[2] = {};
};
static_assert(sizeof(XeDeviceQuery) == 40 && offsetof(XeDeviceQuery, size) == 12 &&
              offsetof(XeDeviceQuery, data) == 16);
constexpr unsigned long xe_query_request = _IOWR(drm_type, drm_command_base, XeDeviceQuery);
static_assert(xe_query_request == 0xC0286440);

// Limit of retries: signals may come endlessly, and a driver in reset returns EAGAIN for a while.
constexpr int max_interruptions = 16;
constexpr int max_errno = 4095;
// Limit of rounds, as the answer may grow between the two passes.
constexpr int max_rounds = 3;

int call(int node, unsigned long request, void* argument) noexcept {
  int error = 0;
  for (int i = 0; i < max_interruptions; ++i) {
    if (ioctl(node, request, argument) == 0) return 0;
    error = errno;
    if (error != EINTR && error != EAGAIN) break;
  }
  return error;
}

uint64_t pointer_bits(void* memory) noexcept {
  return reinterpret_cast<uintptr_t>(memory);
}

// Makes one pass; returns the needed length for an empty `answer`.
ErrnoOr<size_t> run_pass(int node, DeviceQuery query, std::span<std::byte> answer) noexcept {
  if (query.driver == QueryDriver::xe) {
    XeDeviceQuery request;
    request.query = query.number;
    request.size = static_cast<uint32_t>(answer.size());
    request.data = answer.empty() ? 0 : pointer_bits(answer.data());
    const int error = call(node, xe_query_request, &request);
    return {request.size, error};
  }
  I915QueryItem item;
  item.query_id = query.number;
  item.length = static_cast<int32_t>(answer.size());
  item.data_ptr = answer.empty() ? 0 : pointer_bits(answer.data());
  I915Query request;
  request.num_items = 1;
  request.items_ptr = pointer_bits(&item);
  const int error = call(node, i915_query_request, &request);
  if (error != 0) return {0, error};
  if (item.length >= 0) return {static_cast<size_t>(item.length), 0};
  return {0, item.length < -max_errno ? EIO : -item.length};
}

// Drivers reject an unknown query with different errors.
int normalize_error(int error) noexcept {
  return error == ENOTTY || error == EINVAL || error == ENOSYS ? EOPNOTSUPP : error;
}

ErrnoOr<size_t> query_descriptor(int node, DeviceQuery query,
                                 std::span<std::byte> answer) noexcept {
  int error = EOPNOTSUPP;
  for (int round = 0; round < max_rounds; ++round) {
    const ErrnoOr<size_t> length = run_pass(node, query, {});
    if (!length) return {0, normalize_error(length.error)};
    if (length.value == 0) return {0, EOPNOTSUPP};
    if (length.value > answer.size()) return {0, ENOBUFS};
    const std::span<std::byte> buffer = answer.first(length.value);
    std::fill(buffer.begin(), buffer.end(), std::byte{0});
    const ErrnoOr<size_t> result = run_pass(node, query, buffer);
    if (result) return {std::min(result.value, buffer.size()), 0};
    error = normalize_error(result.error);
    if (result.error != EINVAL) break;
  }
  return {0, error};
}

ErrnoOr<size_t> query_node(const char* node, DeviceQuery query,
                           std::span<std::byte> answer) noexcept {
  const Descriptor file(::open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return {0, errno};
  return query_descriptor(file.get(), query, answer);
}

}  // namespace

ErrnoOr<size_t> query_device(const char* node, DeviceQuery query,
                             std::span<std::byte> answer) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->query_device(node, query, answer, query_node);
  return query_node(node, query, answer);
}

}  // namespace hmn::platform
