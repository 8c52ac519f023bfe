// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/compose.hpp"
#include "model/pool.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_pool_read(hmn_context* handle, uint32_t device_index, uint32_t kind,
                         hmn_flags fields, hmn_pool* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_pool& full) -> result<void> {
    if (kind > HMN_POOL_STOLEN) {
      return failed(status::range, {kind, " is no HMN_POOL_*"});
    }
    if (result<void> ok = check_fields(fields, pool_field::readable); !ok) return ok;
    const hmn_flags wanted = fields != 0 ? fields : pool_field::readable;
    const result<pool> p = c.pool(device_index, static_cast<pool_kind>(kind), wanted);
    if (!p) return p.why();
    copy_out(*p, full);
    if ((fields & ~full.present) != 0) full.notes |= HMN_NOTE_PARTIAL;
    return {};
  });
}
