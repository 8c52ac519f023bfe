// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include "backends/os/os.hpp"
#include "backends/os/windows/describe.hpp"
#include "backends/os/windows/process_memory.hpp"
#include "backends/os/windows/system_memory.hpp"
#include "platform/process.hpp"

namespace hmn::os {
namespace {

class windows_host final : public host_source {
 public:
  source id() const noexcept override { return source::os; }

  result<void> own_memory(FieldSet fields, process_memory& out) override {
    start(platform::current_pid(), out);
    return read_process_memory(GetCurrentProcess(), fields, out);
  }

  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out) override {
    start(pid, out);
    const auto p = opened_process::open(pid);
    if (!p) return p.why();
    return read_process_memory(p->get(), fields, out);
  }

  result<void> system(system_memory& out) override { return read_system_memory(out); }
  void describe(usage& row) override { os::describe(table_, row); }
  void describe_texts(usage& row) override { os::describe_texts(row); }

 private:
  static void start(std::uint32_t pid, process_memory& out) noexcept {
    out = process_memory();
    out.pid = pid;
    out.from = source::os;
  }

  process_table table_;
};

}  // namespace
}  // namespace hmn::os

namespace hmn {

std::unique_ptr<host_source> make_os(const settings&) {
  return std::make_unique<os::windows_host>();
}

}  // namespace hmn
