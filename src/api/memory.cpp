// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "platform/thread.hpp"

namespace hmn::api {

namespace {

template <class Read>
Result<void> read_fields(hmn_fields fields, const hmn_process_memory* out,
                         hmn_process_memory& result, Read&& read) {
  if (Result<void> ok = check_fields(fields, out); !ok) return ok;
  const hmn_fields selected_fields = fields != 0 ? fields : process_memory_field::cheap;
  ProcessMemory memory;
  if (Result<void> ok = read(selected_fields, memory); !ok) return ok;
  copy_to_c(memory, result, selected_fields);
  return {};
}

// Fast path of the most frequent reading, which costs little more than its two system calls. Needs
// a context that has been used and a struct of this version's size.
bool read_own_sizes(hmn_context* handle, hmn_fields fields, hmn_process_memory* out) noexcept {
  constexpr hmn_fields cheap_fields = process_memory_field::cheap;
  if (handle == nullptr || out == nullptr || out->struct_size != sizeof *out) return false;
  MemorySizes sizes;
  if ((fields & ~cheap_fields) != 0 || !object(handle).own_sizes(sizes)) return false;
  *out = {};
  out->struct_size = sizeof *out;
  out->present = fields != 0 ? fields : cheap_fields;
  out->backend = static_cast<std::uint32_t>(Source::os);
  out->pid = object(handle).own_pid();
  if ((out->present & process_memory_field::resident) != 0) out->resident_bytes = sizes.resident;
  if ((out->present & process_memory_field::virtual_size) != 0) {
    out->virtual_bytes = sizes.virtual_size;
  }
  return true;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_process_memory_read(hmn_context* handle, uint32_t pid, hmn_fields fields,
                                   hmn_process_memory* out, hmn_error* error) noexcept {
  return fill_from(
      handle, out, error, [&](Context& context, hmn_process_memory& result) -> Result<void> {
        if (pid == 0) return make_failure(Status::range, "pid: 0 is not a process");
        return read_fields(fields, out, result, [&](FieldSet selected, ProcessMemory& memory) {
          return context.memory(pid, selected, memory);
        });
      });
}

hmn_status hmn_process_memory_read_self(hmn_context* handle, hmn_fields fields,
                                        hmn_process_memory* out, hmn_error* error) noexcept {
  if (error == nullptr || is_struct_size(error->struct_size, HMN_ERROR_SIZE_V1)) {
    const platform::NoCancel cancel_guard;
    if (read_own_sizes(handle, fields, out)) {
      clear_error(error);
      return HMN_OK;
    }
  }
  return fill_from(
      handle, out, error, [&](Context& context, hmn_process_memory& result) -> Result<void> {
        return read_fields(fields, out, result, [&](FieldSet selected, ProcessMemory& memory) {
          return context.own_memory(selected, memory);
        });
      });
}

hmn_status hmn_system_memory_read(hmn_context* handle, hmn_fields fields, hmn_system_memory* out,
                                  hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](Context& context, hmn_system_memory& result) -> Result<void> {
                     if (Result<void> ok = check_fields(fields, out); !ok) return ok;
                     SystemMemory memory;
                     if (Result<void> ok = context.system(memory); !ok) return ok;
                     copy_to_c(memory, result, fields);
                     return {};
                   });
}
