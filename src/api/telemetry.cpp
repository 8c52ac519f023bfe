// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_telemetry_read(hmn_context* handle, uint32_t device_index, hmn_flags fields,
                              hmn_telemetry* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_telemetry> {
    if (result<void> ok = check_fields(fields, telemetry_field::all); !ok) {
      return std::move(ok.why());
    }
    const result<telemetry> t =
        c.telemetry(device_index, fields != 0 ? fields : telemetry_field::all);
    if (!t) return t.why();
    auto full = to_c<hmn_telemetry>(*t);
    if ((fields & ~full.present) != 0) full.notes |= HMN_NOTE_PARTIAL;
    return full;
  });
}
