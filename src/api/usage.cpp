// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_usage_read(hmn_context* handle, uint32_t device_index, uint32_t pid,
                          hmn_flags fields, hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_usage& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    if (pid == 0) return failed(status::range, "pid 0 is no process");
    const result<usage> u = c.process(device_index, pid, fields);
    if (!u) return u.why();
    copy_out(*u, full, fields);
    return {};
  });
}

hmn_status hmn_usage_read_self(hmn_context* handle, uint32_t device_index, hmn_flags fields,
                               hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_usage& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    const result<usage> u = c.own_usage(device_index);
    if (!u) return u.why();
    copy_out(*u, full, fields);
    return {};
  });
}
