// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "model/compose.hpp"

namespace hmn::api {

hmn_pool to_c(std::uint32_t device_index, const dated<pool>& dated) {
  const pool& p = dated.value;
  hmn_pool out{};
  out.notes = p.notes;
  out.backend = static_cast<std::uint32_t>(p.from);
  out.device_index = device_index;
  out.kind = static_cast<std::uint32_t>(p.kind);
  out.accounting = static_cast<std::uint32_t>(p.accounting);
  out.is_main = p.is_main ? 1 : 0;
  hmn_flags& has = out.present;
  give(has, HMN_POOL_HAS_TOTAL, out.total_bytes, p.total);
  give(has, HMN_POOL_HAS_FREE, out.free_bytes, p.free);
  give(has, HMN_POOL_HAS_USED, out.used_bytes, p.used);
  give(has, HMN_POOL_HAS_RESERVED, out.reserved_bytes, p.reserved);
  give(has, HMN_POOL_HAS_USABLE, out.usable_bytes, p.usable);
  give(has, HMN_POOL_HAS_BUDGET, out.budget_bytes, p.budget);
  give(has, HMN_POOL_HAS_UNATTRIBUTED, out.unattributed_bytes, p.unattributed);
  out.age_ns = dated.age_ns;
  return out;
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_pool_read(hmn_context* handle, uint32_t device_index, uint32_t kind, hmn_pool* out,
                         hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_pool> {
    if (kind > HMN_POOL_STOLEN) {
      return failure{status::range, source::none, {}, {kind, " is no HMN_POOL_*"}};
    }
    const result<dated<pool>> p = c.pool(device_index, static_cast<pool_kind>(kind));
    if (!p) return p.why();
    return to_c(device_index, *p);
  });
}
