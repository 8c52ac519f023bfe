// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "platform/thread.hpp"

namespace hmn::api {

namespace {

template <class Read>
Result<void> read_fields(hmn_fields fields, const hmn_process_memory* out, hmn_process_memory& full,
                         Read&& read) {
  if (Result<void> ok = check_fields(fields, out); !ok) return ok;
  const hmn_fields wanted = fields != 0 ? fields : process_memory_field::cheap;
  ProcessMemory m;
  if (Result<void> ok = read(wanted, m); !ok) return ok;
  copy_out(m, full, wanted);
  return {};
}

// The most frequent reading has a path of its own, which costs little more than its two system
// calls: it needs a context in use and a struct of this version's size.
bool read_own_sizes(hmn_context* handle, hmn_fields fields, hmn_process_memory* out) noexcept {
  constexpr hmn_fields both = process_memory_field::cheap;
  if (handle == nullptr || out == nullptr || out->struct_size != sizeof *out) return false;
  MemorySizes found;
  if ((fields & ~both) != 0 || !object(handle).own_sizes(found)) return false;
  *out = {};
  out->struct_size = sizeof *out;
  out->present = fields != 0 ? fields : both;
  out->backend = static_cast<std::uint32_t>(Source::os);
  out->pid = object(handle).own_pid();
  if ((out->present & process_memory_field::resident) != 0) out->resident_bytes = found.resident;
  if ((out->present & process_memory_field::virtual_size) != 0) {
    out->virtual_bytes = found.virtual_size;
  }
  return true;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_process_memory_read(hmn_context* handle, uint32_t pid, hmn_fields fields,
                                   hmn_process_memory* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_process_memory& full) -> Result<void> {
    if (pid == 0) return failed(Status::range, "pid: 0 is not a process");
    return read_fields(fields, out, full,
                       [&](FieldSet f, ProcessMemory& m) { return c.memory(pid, f, m); });
  });
}

hmn_status hmn_process_memory_read_self(hmn_context* handle, hmn_fields fields,
                                        hmn_process_memory* out, hmn_error* error) noexcept {
  if (error == nullptr || is_struct_size(error->struct_size, HMN_ERROR_SIZE_V1)) {
    const platform::NoCancel quiet;
    if (read_own_sizes(handle, fields, out)) {
      clear_error(error);
      return HMN_OK;
    }
  }
  return fill_from(handle, out, error, [&](Context& c, hmn_process_memory& full) -> Result<void> {
    return read_fields(fields, out, full,
                       [&](FieldSet f, ProcessMemory& m) { return c.own_memory(f, m); });
  });
}

hmn_status hmn_system_memory_read(hmn_context* handle, hmn_fields fields, hmn_system_memory* out,
                                  hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_system_memory& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    SystemMemory m;
    if (Result<void> ok = c.system(m); !ok) return ok;
    copy_out(m, full, fields);
    return {};
  });
}
