// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_telemetry_read(hmn_context* handle, uint32_t device_index, hmn_flags fields,
                              hmn_telemetry* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_telemetry& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    const result<telemetry> t = c.telemetry(device_index, fields);
    if (!t) return t.why();
    copy_out(*t, full, fields);
    return {};
  });
}
