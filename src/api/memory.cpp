// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/compose.hpp"
#include "model/record.hpp"

namespace hmn::api {

namespace {

template <class T>
void fill(hmn_flags&, hmn_flags, T& field, const auto& value) noexcept {
  field = static_cast<T>(value);
}

template <class T, class V>
void fill(hmn_flags& present, hmn_flags bit, T& field, const std::optional<V>& value) noexcept {
  give(present, bit, field, value);
}

// Unrolled copy_out: reading the own resident set is measured in single instructions.
void copy_fields(const process_memory& m, hmn_process_memory& out) noexcept {
#define HMN_FILL(member, c_member, bit, ...) fill(out.present, bit, out.c_member, m.member);
  HMN_PROCESS_MEMORY_FIELDS(HMN_FILL)
#undef HMN_FILL
}

template <class Read>
result<void> read_fields(hmn_flags fields, const hmn_process_memory* out, hmn_process_memory& full,
                         Read&& read) {
  if (result<void> ok = check_fields(fields, out); !ok) return ok;
  const hmn_flags wanted = fields != 0 ? fields : process_memory_field::cheap;
  process_memory m;
  if (result<void> ok = read(wanted, m); !ok) return ok;
  copy_fields(m, full);
  if ((wanted & ~full.present) != 0) full.notes |= HMN_NOTE_PARTIAL;
  return {};
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_process_memory_read(hmn_context* handle, uint32_t pid, hmn_flags fields,
                                   hmn_process_memory* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_process_memory& full) -> result<void> {
    if (pid == 0) return failed(status::range, "pid 0 is no process");
    return read_fields(fields, out, full,
                       [&](std::uint32_t f, process_memory& m) { return c.memory(pid, f, m); });
  });
}

// Inlined on the whole path: its time is measured in system calls.
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
    hmn_process_memory full{};
    if (result<void> ok = read_fields(fields, out, full, read); !ok) return ok;
    answer.write(&full);
    return {};
  });
}

hmn_status hmn_system_memory_read(hmn_context* handle, hmn_flags fields, hmn_system_memory* out,
                                  hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_system_memory& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    system_memory m;
    if (result<void> ok = c.system(m); !ok) return ok;
    copy_requested(m, fields, full);
    return {};
  });
}
