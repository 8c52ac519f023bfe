// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/host.hpp"

#include "backends/os/macos/describe.hpp"
#include "backends/os/macos/memory.hpp"
#include "platform/process.hpp"

namespace hmn::macos {
namespace {

void start(std::uint32_t pid, process_memory& out) noexcept {
  out = process_memory();
  out.pid = pid;
  out.from = source::os;
}

}  // namespace

result<void> macos_host::own_memory(FieldSet fields, process_memory& out) {
  start(platform::current_pid(), out);
  return read_own_memory(k_, fields, out);
}

result<void> macos_host::memory(std::uint32_t pid, FieldSet fields, process_memory& out) {
  if (pid == platform::current_pid()) return own_memory(fields, out);
  start(pid, out);
  return read_memory(k_, pid, fields, out);
}

result<void> macos_host::system(system_memory& out) {
  return read_system_memory(k_, out);
}

void macos_host::describe(usage& row) {
  macos::describe(k_, row);
}

void macos_host::describe_texts(usage& row) {
  describe_command(k_, row);
}

}  // namespace hmn::macos
