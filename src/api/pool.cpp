// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "model/compose.hpp"
#include "model/pool.hpp"
#include "model/record.hpp"

namespace hmn::api {

result<void> check_pool_kind(std::uint32_t kind) {
  if (kind <= HMN_POOL_STOLEN) return {};
  return failed(status::range, {kind, " is no HMN_POOL_*"});
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_pool_read(hmn_context* handle, uint32_t device_index, uint32_t kind,
                         hmn_flags fields, hmn_pool* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_pool& full) -> result<void> {
    if (result<void> ok = check_pool_kind(kind); !ok) return ok;
    if (result<void> ok = check_fields(fields, out, pool_field::readable); !ok) return ok;
    const hmn_flags wanted = fields != 0 ? fields : pool_field::readable;
    const result<pool> p = c.pool(device_index, static_cast<pool_kind>(kind), wanted);
    if (!p) return p.why();
    copy_out(*p, full, fields);
    return {};
  });
}
