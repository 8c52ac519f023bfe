// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

namespace {

// Returns a number that a scan finds.
template <class T>
hmn_status scan(hmn_context* handle, T device_listing::*number, T* out, hmn_error* error) noexcept {
  clear_out(out);
  device_listing found;
  const hmn_status said = with_context(handle, error, [&](context& c) -> result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    return c.list_devices(found);
  });
  if (said == HMN_OK) *out = found.*number;
  return said;
}

}  // namespace

hmn_status hmn_device_count(hmn_context* handle, uint32_t* out, hmn_error* error) noexcept {
  return scan(handle, &device_listing::count, out, error);
}

hmn_status hmn_device_generation(hmn_context* handle, uint64_t* out, hmn_error* error) noexcept {
  return scan(handle, &device_listing::generation, out, error);
}

hmn_status hmn_device_find(hmn_context* handle, const char* key, uint32_t* out,
                           hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](context& c) -> result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    if (key == nullptr) return null_argument("key is NULL");
    const result<std::uint32_t> index = c.find(key);
    if (!index) return index.why();
    *out = *index;
    return {};
  });
}

hmn_status hmn_device_read(hmn_context* handle, uint32_t device_index, hmn_flags fields,
                           hmn_device* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_device& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    const result<device> d = c.identity(device_index);
    if (!d) return d.why();
    copy_out(*d, full, fields);
    return {};
  });
}
