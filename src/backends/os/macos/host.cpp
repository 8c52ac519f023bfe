// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/host.hpp"

#include "backends/os/macos/describe.hpp"
#include "backends/os/macos/memory.hpp"
#include "platform/process.hpp"

namespace hmn::macos {
namespace {

void start(std::uint32_t pid, ProcessMemory& out) noexcept {
  out = ProcessMemory();
  out.pid = pid;
  out.from = Source::os;
}

}  // namespace

Result<void> MacosHost::own_memory(FieldSet fields, ProcessMemory& out) {
  start(platform::current_pid(), out);
  return read_own_memory(k_, fields, out);
}

Result<void> MacosHost::memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) {
  if (pid == platform::current_pid()) return own_memory(fields, out);
  start(pid, out);
  return read_memory(k_, pid, fields, out);
}

Result<void> MacosHost::system(SystemMemory& out) {
  return read_system_memory(k_, out);
}

void MacosHost::describe(Usage& row) {
  macos::describe(k_, row);
}

void MacosHost::describe_texts(Usage& row) {
  describe_command(k_, row);
}

}  // namespace hmn::macos
