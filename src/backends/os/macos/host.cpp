// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/host.hpp"

#include "backends/os/macos/describe.hpp"
#include "backends/os/macos/memory.hpp"
#include "platform/process.hpp"

namespace hmn::macos {
namespace {

void initialize(std::uint32_t pid, ProcessMemory& out) noexcept {
  out = ProcessMemory();
  out.pid = pid;
  out.source = Source::os;
}

}  // namespace

Result<void> MacosHost::own_memory(FieldSet fields, ProcessMemory& out) {
  initialize(platform::current_pid(), out);
  return read_own_memory(kernel_, fields, out);
}

Result<void> MacosHost::memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) {
  if (pid == platform::current_pid()) return own_memory(fields, out);
  initialize(pid, out);
  return read_memory(kernel_, pid, fields, out);
}

Result<void> MacosHost::system(SystemMemory& out) {
  return read_system_memory(kernel_, out);
}

void MacosHost::describe(Usage& row) {
  macos::describe(kernel_, row);
}

void MacosHost::describe_texts(Usage& row) {
  describe_command(kernel_, row);
}

}  // namespace hmn::macos
