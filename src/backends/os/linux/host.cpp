// SPDX-License-Identifier: MIT OR Apache-2.0
#include <array>
#include <span>
#include <string>

#include "backends/os/linux/describe.hpp"
#include "backends/os/linux/process_memory.hpp"
#include "backends/os/linux/system_memory.hpp"
#include "backends/os/os.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/boot.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"
#include "procfs/workload.hpp"

namespace hmn::os {
namespace {

using procfs::append_container;
using procfs::container;
using procfs::container_of;
using procfs::parse_statm;
using procfs::pid_name;

class linux_host final : public host_source {
 public:
  explicit linux_host(const settings& s)
      : proc_root_(s.proc_root),
        cgroup_root_(s.cgroup_root),
        page_size_(platform::page_size()),
        own_statm_(s.proc_root + "/self/statm"),
        system_(s.proc_root, s.cgroup_root) {}

  source id() const noexcept override { return source::os; }

  result<void> own_memory(std::uint32_t fields, process_memory& out) override {
    start(out.pid, out);
    memory_sizes quick;
    if ((fields & ~process_memory_field::cheap) == 0 && own_sizes(quick)) {
      store(quick, fields, out);
      return {};
    }
    result<void> r = read("self", fields, out);
    // "self" is the first thread, which may have ended.
    if (!r && r.why().code == status::no_process) return read("thread-self", fields, out);
    return r;
  }

  // Uses one fstat and one pread. No resident page: the first thread may have ended.
  bool own_sizes(memory_sizes& out) noexcept override {
    std::array<char, 256> buffer;
    const auto got = own_statm_.read(buffer);
    if (!got) return false;
    const auto m = parse_statm({buffer.data(), got.value});
    return m && m->resident != 0 && to_bytes(*m, page_size_, out);
  }

  result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) override {
    start(pid, out);
    const pid_name who(pid);
    result<void> r = read(who.view(), fields, out);
    if (r || r.why().code != status::no_process) return r;
    const auto thread = living_thread(proc_root_, who.view());
    return thread ? read(*thread, fields, out) : std::move(r);
  }

  result<void> system(system_memory& out) override { return system_.read(out); }

  void describe(usage& row) override {
    usage* const one = &row;
    describe_all({&one, 1}, [](usage&) { return true; });
  }
  void describe_texts(usage& row) override {
    usage* const one = &row;
    describe_all({&one, 1}, [](usage&) { return false; });
  }
  void describe_all(std::span<usage* const> rows, function_ref<bool(usage&)> recall) override {
    describer each(proc_root_, page_size_, boot_, id_);
    for (usage* const row : rows) each.describe(*row, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    find_own_groups(proc_root_, cgroup_root_, out);
  }
  void name_group(std::string_view path, std::string& out) override {
    const container of = container_of(path);
    if (!of.empty()) append_container(out, of);
  }

 private:
  static void start(std::uint32_t pid, process_memory& out) noexcept {
    out = process_memory();
    out.pid = pid;
    out.from = source::os;
  }

  result<void> read(std::string_view who, std::uint32_t fields, process_memory& out) {
    return read_process_memory(proc_root_, who, page_size_, id_, fields, out);
  }

  const std::string proc_root_;
  const std::string cgroup_root_;
  const std::size_t page_size_;
  platform::kept_file own_statm_;
  system_reader system_;
  procfs::boot_time boot_;
  procfs::boot_id id_;
};

}  // namespace
}  // namespace hmn::os

namespace hmn {

std::unique_ptr<host_source> make_os(const settings& s) {
  return std::make_unique<os::linux_host>(s);
}

}  // namespace hmn
