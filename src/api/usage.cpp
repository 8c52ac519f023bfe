// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"

namespace hmn::api {

hmn_usage to_c(std::uint32_t device_index, const dated<usage>& dated) {
  const usage& u = dated.value;
  hmn_usage out{};
  out.notes = u.notes;
  out.backend = static_cast<std::uint32_t>(u.from);
  out.pid = u.pid;
  out.device_index = device_index;
  out.accounting = static_cast<std::uint32_t>(u.accounting);
  out.name_state = static_cast<std::uint32_t>(u.name_state);
  hmn_flags& has = out.present;
  give(has, HMN_USAGE_HAS_KINDS, out.kinds, u.kinds);
  give(has, HMN_USAGE_HAS_UID, out.uid, u.uid);
  give(has, HMN_USAGE_HAS_START_TIME, out.start_unix_ns, u.start_unix_ns);
  give(has, HMN_USAGE_HAS_USED, out.used_bytes, u.used);
  give(has, HMN_USAGE_HAS_RESIDENT, out.resident_bytes, u.resident);
  give(has, HMN_USAGE_HAS_COMMITTED, out.committed_bytes, u.committed);
  give(has, HMN_USAGE_HAS_ALLOCATED, out.allocated_bytes, u.allocated);
  give(has, HMN_USAGE_HAS_SHARED, out.shared_bytes, u.shared);
  give(has, HMN_USAGE_HAS_PURGEABLE, out.purgeable_bytes, u.purgeable);
  give(has, HMN_USAGE_HAS_EVICTED, out.evicted_bytes, u.evicted);
  give(has, HMN_USAGE_HAS_HOST_POOL, out.host_pool_bytes, u.host_pool);
  give(has, HMN_USAGE_HAS_HOST_RESIDENT, out.host_resident_bytes, u.host_resident);
  give(has, HMN_USAGE_HAS_BUDGET, out.budget_bytes, u.budget);
  give(has, HMN_USAGE_HAS_BUSY_NS, out.busy_ns, u.busy_ns);
  give(has, HMN_USAGE_HAS_BUSY_PERCENT, out.busy_percent, u.busy_percent);
  if (u.busy_percent) out.window_ns = u.window_ns;
  if (u.instance) {
    has |= HMN_USAGE_HAS_INSTANCE;
    out.gpu_instance = u.instance->gpu;
    out.compute_instance = u.instance->compute;
  }
  give(has, HMN_USAGE_HAS_PEAK_USED, out.peak_used_bytes, u.peak_used);
  out.age_ns = dated.age_ns;
  return out;
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_usage_read(hmn_context* handle, uint32_t device_index, uint32_t pid, hmn_usage* out,
                          hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_usage> {
    if (pid == 0) return failure{status::range, source::none, {}, "pid 0 is no process"};
    const result<dated<usage>> u = c.process(device_index, pid);
    if (!u) return u.why();
    if (u->value.counted_since_ns && out->struct_size < HMN_USAGE_SIZE_V2) {
      return failure{
          status::no_process, u->value.from, {}, "the driver lists no such process on this device"};
    }
    return to_c(device_index, *u);
  });
}

hmn_status hmn_usage_read_self(hmn_context* handle, uint32_t device_index, hmn_usage* out,
                               hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_usage> {
    const result<dated<usage>> u = c.own_usage(device_index);
    if (!u) return u.why();
    return to_c(device_index, *u);
  });
}
