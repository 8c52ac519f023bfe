// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "model/compose.hpp"

namespace hmn::api {

hmn_process_memory to_c(const process_memory& m) {
  hmn_process_memory out{};
  out.notes = m.notes;
  out.backend = static_cast<std::uint32_t>(m.from);
  out.pid = m.pid;
  hmn_flags& has = out.present;
  give(has, HMN_PROCESS_MEMORY_HAS_RESIDENT, out.resident_bytes, m.resident);
  give(has, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT, out.peak_resident_bytes, m.peak_resident);
  give(has, HMN_PROCESS_MEMORY_HAS_VIRTUAL, out.virtual_bytes, m.virtual_size);
  give(has, HMN_PROCESS_MEMORY_HAS_SWAP, out.swap_bytes, m.swap);
  give(has, HMN_PROCESS_MEMORY_HAS_PROPORTIONAL, out.proportional_bytes, m.proportional);
  give(has, HMN_PROCESS_MEMORY_HAS_PRIVATE, out.private_bytes, m.private_set);
  give(has, HMN_PROCESS_MEMORY_HAS_COMMITTED, out.committed_bytes, m.committed);
  give(has, HMN_PROCESS_MEMORY_HAS_FOOTPRINT, out.footprint_bytes, m.footprint);
  give(has, HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT, out.peak_footprint_bytes, m.peak_footprint);
  give(has, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED, out.peak_committed_bytes, m.peak_committed);
  return out;
}

hmn_system_memory to_c(const system_memory& m) {
  hmn_system_memory out{};
  out.notes = m.notes;
  out.backend = static_cast<std::uint32_t>(m.from);
  hmn_flags& has = out.present;
  give(has, HMN_SYSTEM_MEMORY_HAS_TOTAL, out.total_bytes, m.total);
  give(has, HMN_SYSTEM_MEMORY_HAS_AVAILABLE, out.available_bytes, m.available);
  give(has, HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL, out.swap_total_bytes, m.swap_total);
  give(has, HMN_SYSTEM_MEMORY_HAS_SWAP_FREE, out.swap_free_bytes, m.swap_free);
  give(has, HMN_SYSTEM_MEMORY_HAS_LIMIT, out.limit_bytes, m.limit);
  give(has, HMN_SYSTEM_MEMORY_HAS_LIMIT_USED, out.limit_used_bytes, m.limit_used);
  give(has, HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT, out.commit_limit_bytes, m.commit_limit);
  give(has, HMN_SYSTEM_MEMORY_HAS_COMMITTED, out.committed_bytes, m.committed);
  give(has, HMN_SYSTEM_MEMORY_HAS_PRESSURE, out.pressure, m.pressure);
  give(has, HMN_SYSTEM_MEMORY_HAS_STALL, out.stall_percent, m.stall_percent);
  return out;
}

namespace {

// What is past the caller's struct is as unknown as it was to the version which that struct is of.
result<std::uint32_t> fields_from(hmn_flags fields, std::uint32_t struct_size) {
  const hmn_flags past =
      struct_size < HMN_PROCESS_MEMORY_SIZE_V2 ? appended<hmn_process_memory> : 0;
  const hmn_flags unknown = fields & (~process_memory_field::all | past);
  if (unknown == 0) return fields != 0 ? fields : process_memory_field::cheap;
  return failure{status::unknown_flag,
                 source::none,
                 {},
                 {"fields: bits unknown, or past struct_size: 0x", hex(unknown)}};
}

template <class Read>
result<hmn_process_memory> read_fields(hmn_flags fields, std::uint32_t struct_size, Read&& read) {
  const result<std::uint32_t> wanted = fields_from(fields, struct_size);
  if (!wanted) return wanted.why();
  process_memory m;
  if (result<void> ok = read(*wanted, m); !ok) return std::move(ok.why());
  hmn_process_memory out = to_c(m);
  if ((*wanted & ~out.present) != 0) out.notes |= HMN_NOTE_PARTIAL;
  return out;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_process_memory_read(hmn_context* handle, uint32_t pid, hmn_flags fields,
                                   hmn_process_memory* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_process_memory> {
    if (pid == 0) return failure{status::range, source::none, {}, "pid 0 is no process"};
    return read_fields(fields, out->struct_size,
                       [&](std::uint32_t f, process_memory& m) { return c.memory(pid, f, m); });
  });
}

// Measured in system calls: everything on its way is inline.
hmn_status hmn_process_memory_read_self(hmn_context* handle, hmn_flags fields,
                                        hmn_process_memory* out, hmn_error* error) noexcept {
  return guarded_here(error, [&]() -> result<void> {
    const sized_out to = sized_out::of(out);
    if (result<void> ok = to.check(); !ok) return ok;
    cleared_unless_written answer(to);
    if (result<void> ok = check_context(handle); !ok) return ok;
    const auto read = [&](std::uint32_t f, process_memory& m) {
      return object(handle).own_memory(f, m);
    };
    const result<hmn_process_memory> full = read_fields(fields, out->struct_size, read);
    if (!full) return full.why();
    answer.write(&*full);
    return {};
  });
}

hmn_status hmn_system_memory_read(hmn_context* handle, hmn_system_memory* out,
                                  hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_system_memory> {
    system_memory m;
    if (result<void> ok = c.system(m); !ok) return std::move(ok.why());
    return to_c(m);
  });
}
