// SPDX-License-Identifier: MIT OR Apache-2.0
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "backends/os/linux/group_limits.hpp"
#include "backends/os/linux/process_memory.hpp"
#include "backends/os/os.hpp"
#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "model/host_memory.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"
#include "model/usage.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/boot.hpp"
#include "procfs/meminfo.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"
#include "procfs/workload.hpp"

namespace hmn::os {
namespace {

// Describes processes one after the other, with /proc open in the meantime.
class describer {
 public:
  describer(const std::string& root, std::size_t page_size, procfs::boot_time& boot,
            procfs::boot_id& id);

  // Fills those still unknown of: name and its state, start, owner, resident set, from one reading
  // of stat and the owner of the folder; then command and container, from cmdline and cgroup,
  // unless `recall` has filled them.
  void describe(usage& row, function_ref<bool(usage&)> recall);

 private:
  void identify(procfs::proc_path& path, usage& row);
  void name(procfs::proc_path& path, const procfs::stat& s, usage& row);
  void add_texts(procfs::proc_path& path, usage& row);
  std::string_view read(procfs::proc_path& path, std::string_view file, std::span<char> buffer);

  const std::string& root_;
  const std::size_t page_size_;
  procfs::boot_time& boot_;
  procfs::boot_id& id_;
  const platform::errno_or<platform::directory> proc_;
  // Text and meaning of the last cgroup file: processes of one group have the same.
  std::string groups_;
  std::string container_;
};

using procfs::append_command;
using procfs::append_container;
using procfs::container;
using procfs::full_name;
using procfs::longest_comm;
using procfs::parse_container;
using procfs::parse_stat;
using procfs::pid_name;
using procfs::proc_path;
using procfs::stat;

name_state state_of(int error) {
  if (is_gone(error)) return name_state::exited;
  return is_refused(error) ? name_state::protected_process : name_state::unknown;
}

void measure(const stat& s, std::size_t page_size, usage& row) {
  if (row.host_resident || s.is_kernel_thread() || s.is_dead() || !s.rss) return;
  row.host_resident = scan::product(*s.rss, page_size);
}

bool is_complete(const usage& row) {
  return row.name_state != name_state::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

describer::describer(const std::string& root, std::size_t page_size, procfs::boot_time& boot,
                     procfs::boot_id& id)
    : root_(root),
      page_size_(page_size),
      boot_(boot),
      id_(id),
      proc_(platform::directory::open(root.c_str())) {}

std::string_view describer::read(proc_path& path, std::string_view file, std::span<char> buffer) {
  const auto got = proc_.value.read_small(path.to(file), buffer);
  return {buffer.data(), got ? got.value : 0};
}

void describer::name(proc_path& path, const stat& s, usage& row) {
  row.name_state = s.is_kernel_thread() ? name_state::kernel : name_state::resolved;
  if (s.is_kernel_thread()) return;
  std::array<char, 4096> cmdline;
  std::string_view full = s.comm;
  if (s.comm.size() >= longest_comm) full = full_name(s.comm, read(path, "cmdline", cmdline));
  row.name.clear();
  append_utf8(row.name, full);
  if (row.name.empty()) row.name_state = name_state::unknown;
}

void describer::describe(usage& row, function_ref<bool(usage&)> recall) {
  if (row.pid == 0) return;
  if (!proc_) {
    // Without the tree, no process is known to have exited.
    const name_state why = state_of(proc_.error);
    if (row.name_state == name_state::unknown && why != name_state::exited) row.name_state = why;
    return;
  }
  proc_path path("", pid_name(row.pid).view(), "");
  if (!is_complete(row)) identify(path, row);
  if (!recall(row)) add_texts(path, row);
}

void describer::identify(proc_path& path, usage& row) {
  std::array<char, 2048> buffer;
  const auto got = proc_.value.read_small(path.to("stat"), buffer);
  if (!got) {
    if (row.name_state == name_state::unknown) row.name_state = state_of(got.error);
    return;
  }
  const auto s = parse_stat({buffer.data(), got.value});
  if (!s) return;
  if (row.name_state == name_state::unknown) name(path, *s, row);
  if (!row.start_unix_ns) row.start_unix_ns = boot_.unix_ns(root_, s->starttime);
  if (!row.process_key) row.process_key = id_.key_of(root_, *s);
  measure(*s, page_size_, row);
  if (row.uid) return;
  const auto folder = proc_.value.status_of(path.to(""));
  if (folder) row.uid = folder.value.owner;
}

void describer::add_texts(proc_path& path, usage& row) {
  std::array<char, 16384> buffer;
  // Limit of Linux before 4.2.
  constexpr std::size_t longest_command = 4096;
  if (row.command.empty()) {
    const std::string_view cmdline =
        read(path, "cmdline", std::span(buffer).first(longest_command));
    append_command(row.command, cmdline, cmdline.size() == longest_command);
  }
  if (!row.container.empty()) return;
  const std::string_view groups = read(path, "cgroup", buffer);
  if (groups != groups_) {
    groups_ = groups;
    container_.clear();
    const container in = parse_container(groups);
    if (!in.empty()) append_container(container_, in);
  }
  row.container = container_;
}

class system_reader {
 public:
  system_reader(const std::string& proc_root, const std::string& cgroup_root);
  result<void> read(system_memory& out);

 private:
  void read_stall(system_memory& out);

  const std::string proc_root_;
  platform::kept_file meminfo_;
  platform::kept_file stall_;
  group_limits limits_;
};

using procfs::amount;
using procfs::meminfo;
using procfs::parse_meminfo;
using procfs::parse_stall;
using procfs::proc_path;

// Sum of the zones' low watermarks: a quarter above the minimum (mm/page_alloc.c).
std::uint64_t low_watermark(const std::string& proc_root) {
  std::array<char, 32> buffer;
  const proc_path path(proc_root, "", "sys/vm/min_free_kbytes");
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  const std::uint64_t kilobytes = scan::number(scan::take_line(text)).value_or(0);
  const std::uint64_t bytes = scan::product(kilobytes, 1024).value_or(0);
  return bytes + bytes / 4;
}

void take(const meminfo& m, const std::string& proc_root, system_memory& out) {
  out.total = m.total.value();
  out.available = m.available.value();
  out.swap_total = m.swap_total.value();
  out.swap_free = m.swap_free.value();
  out.commit_limit = m.commit_limit.value();
  out.committed = m.committed.value();
  if (m.available.what != amount::is::missing) return;
  out.available = m.estimate_available(low_watermark(proc_root));
  if (out.available) out.notes |= note::estimated;
}

system_reader::system_reader(const std::string& proc_root, const std::string& cgroup_root)
    : proc_root_(proc_root),
      meminfo_(proc_root + "/meminfo"),
      stall_(proc_root + "/pressure/memory"),
      limits_(proc_root, cgroup_root) {}

// Kernels without pressure stall information have no such file, or refuse to open it (psi=0).
void system_reader::read_stall(system_memory& out) {
  std::array<char, 256> buffer;
  const auto got = stall_.read(buffer);
  if (!got && (got.error == ENOENT || got.error == EOPNOTSUPP)) return;
  if (got) out.stall_percent = parse_stall({buffer.data(), got.value});
  if (!out.stall_percent) out.notes |= note::partial;
}

result<void> system_reader::read(system_memory& out) {
  std::array<char, 16384> buffer;
  const auto got = meminfo_.read(buffer);
  if (!got) return unreadable(got.error, proc_path(proc_root_, "", "meminfo"));
  out = system_memory();
  out.from = source::os;
  take(parse_meminfo({buffer.data(), got.value}), proc_root_, out);
  if (!out.total && !out.available) {
    return nonsense(proc_path(proc_root_, "", "meminfo"), "it has no MemTotal in kB");
  }
  read_stall(out);

  const memory_limit limit = limits_.read();
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  out.limit_left = limit.left;
  if (limit.is_partial || !out.total || !out.available) out.notes |= note::partial;
  return {};
}

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

  result<void> own_memory(FieldSet fields, process_memory& out) override {
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

  // One fstat and one pread. If there is no resident page, the first thread may have ended.
  bool own_sizes(memory_sizes& out) noexcept override {
    std::array<char, 256> buffer;
    const auto got = own_statm_.read(buffer);
    if (!got) return false;
    const auto m = parse_statm({buffer.data(), got.value});
    return m && m->resident != 0 && to_bytes(*m, page_size_, out);
  }

  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out) override {
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

  result<void> read(std::string_view who, FieldSet fields, process_memory& out) {
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
