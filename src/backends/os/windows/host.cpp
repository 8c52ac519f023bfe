// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include "backends/os/os.hpp"
#include "backends/os/windows/describe.hpp"
#include "backends/os/windows/process_memory.hpp"
#include "backends/os/windows/system_memory.hpp"
#include "platform/process.hpp"

namespace hmn::os {
namespace {

class WindowsHost final : public HostSource {
 public:
  Source id() const noexcept override { return Source::os; }

  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    initialize(platform::current_pid(), out);
    return read_process_memory(GetCurrentProcess(), fields, out);
  }

  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    initialize(pid, out);
    const auto process = ProcessHandle::open(pid);
    if (!process) return process.failure();
    return read_process_memory(process->get(), fields, out);
  }

  Result<void> system(SystemMemory& out) override { return read_system_memory(out); }
  void describe(Usage& row) override { os::describe(table_, row); }
  void describe_texts(Usage& row) override { os::describe_texts(row); }

 private:
  static void initialize(std::uint32_t pid, ProcessMemory& out) noexcept {
    out = ProcessMemory();
    out.pid = pid;
    out.source = Source::os;
  }

  ProcessTable table_;
};

}  // namespace
}  // namespace hmn::os

namespace hmn {

std::unique_ptr<HostSource> make_os(const Settings&) {
  return std::make_unique<os::WindowsHost>();
}

}  // namespace hmn
