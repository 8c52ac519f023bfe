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
class Describer {
 public:
  Describer(const std::string& root, std::size_t page_size, procfs::BootTime& boot,
            procfs::BootId& id);

  // Fills those still unknown of: name and its state, start, owner, resident set, from one reading
  // of stat and the owner of the folder; then command and container, from cmdline and cgroup,
  // unless `recall` has filled them.
  void describe(Usage& row, FunctionRef<bool(Usage&)> recall);

 private:
  void identify(procfs::ProcPath& path, Usage& row);
  void name(procfs::ProcPath& path, const procfs::Stat& s, Usage& row);
  void add_texts(procfs::ProcPath& path, Usage& row);
  std::string_view read(procfs::ProcPath& path, std::string_view file, std::span<char> buffer);

  const std::string& root_;
  const std::size_t page_size_;
  procfs::BootTime& boot_;
  procfs::BootId& id_;
  const platform::ErrnoOr<platform::Directory> proc_;
  // Text and meaning of the last cgroup file: processes of one group have the same.
  std::string groups_;
  std::string container_;
};

using procfs::append_command;
using procfs::append_container;
using procfs::Container;
using procfs::full_name;
using procfs::longest_comm;
using procfs::parse_container;
using procfs::parse_stat;
using procfs::PidName;
using procfs::ProcPath;
using procfs::Stat;

NameState state_of(int error) {
  if (is_gone(error)) return NameState::exited;
  return is_refused(error) ? NameState::protected_process : NameState::unknown;
}

void measure(const Stat& s, std::size_t page_size, Usage& row) {
  if (row.host_resident || s.is_kernel_thread() || s.is_dead() || !s.rss) return;
  row.host_resident = scan::product(*s.rss, page_size);
}

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

Describer::Describer(const std::string& root, std::size_t page_size, procfs::BootTime& boot,
                     procfs::BootId& id)
    : root_(root),
      page_size_(page_size),
      boot_(boot),
      id_(id),
      proc_(platform::Directory::open(root.c_str())) {}

std::string_view Describer::read(ProcPath& path, std::string_view file, std::span<char> buffer) {
  const auto got = proc_.value.read_small(path.to(file), buffer);
  return {buffer.data(), got ? got.value : 0};
}

void Describer::name(ProcPath& path, const Stat& s, Usage& row) {
  row.name_state = s.is_kernel_thread() ? NameState::kernel : NameState::resolved;
  if (s.is_kernel_thread()) return;
  std::array<char, 4096> cmdline;
  std::string_view full = s.comm;
  if (s.comm.size() >= longest_comm) full = full_name(s.comm, read(path, "cmdline", cmdline));
  row.name.clear();
  append_utf8(row.name, full);
  if (row.name.empty()) row.name_state = NameState::unknown;
}

void Describer::describe(Usage& row, FunctionRef<bool(Usage&)> recall) {
  if (row.pid == 0) return;
  if (!proc_) {
    // Without the tree, no process is known to have exited.
    const NameState why = state_of(proc_.error);
    if (row.name_state == NameState::unknown && why != NameState::exited) row.name_state = why;
    return;
  }
  ProcPath path("", PidName(row.pid).view(), "");
  if (!is_complete(row)) identify(path, row);
  if (!recall(row)) add_texts(path, row);
}

void Describer::identify(ProcPath& path, Usage& row) {
  std::array<char, 2048> buffer;
  const auto got = proc_.value.read_small(path.to("stat"), buffer);
  if (!got) {
    if (row.name_state == NameState::unknown) row.name_state = state_of(got.error);
    return;
  }
  const auto s = parse_stat({buffer.data(), got.value});
  if (!s) return;
  if (row.name_state == NameState::unknown) name(path, *s, row);
  if (!row.start_unix_ns) row.start_unix_ns = boot_.unix_ns(root_, s->starttime);
  if (!row.process_key) row.process_key = id_.key_of(root_, *s);
  measure(*s, page_size_, row);
  if (row.uid) return;
  const auto folder = proc_.value.status_of(path.to(""));
  if (folder) row.uid = folder.value.owner;
}

void Describer::add_texts(ProcPath& path, Usage& row) {
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
    const Container in = parse_container(groups);
    if (!in.empty()) append_container(container_, in);
  }
  row.container = container_;
}

class SystemReader {
 public:
  SystemReader(const std::string& proc_root, const std::string& cgroup_root);
  Result<void> read(SystemMemory& out);

 private:
  void read_stall(SystemMemory& out);

  const std::string proc_root_;
  platform::KeptFile meminfo_;
  platform::KeptFile stall_;
  GroupLimits limits_;
};

using procfs::Amount;
using procfs::Meminfo;
using procfs::parse_meminfo;
using procfs::parse_stall;
using procfs::ProcPath;

// Sum of the zones' low watermarks: a quarter above the minimum (mm/page_alloc.c).
std::uint64_t low_watermark(const std::string& proc_root) {
  std::array<char, 32> buffer;
  const ProcPath path(proc_root, "", "sys/vm/min_free_kbytes");
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  const std::uint64_t kilobytes = scan::number(scan::take_line(text)).value_or(0);
  const std::uint64_t bytes = scan::product(kilobytes, 1024).value_or(0);
  return bytes + bytes / 4;
}

void take(const Meminfo& m, const std::string& proc_root, SystemMemory& out) {
  out.total = m.total.value();
  out.available = m.available.value();
  out.swap_total = m.swap_total.value();
  out.swap_free = m.swap_free.value();
  out.commit_limit = m.commit_limit.value();
  out.committed = m.committed.value();
  if (m.available.what != Amount::Is::missing) return;
  out.available = m.estimate_available(low_watermark(proc_root));
  if (out.available) out.notes |= note::estimated;
}

SystemReader::SystemReader(const std::string& proc_root, const std::string& cgroup_root)
    : proc_root_(proc_root),
      meminfo_(proc_root + "/meminfo"),
      stall_(proc_root + "/pressure/memory"),
      limits_(proc_root, cgroup_root) {}

// Kernels without pressure stall information have no such file, or refuse to open it (psi=0).
void SystemReader::read_stall(SystemMemory& out) {
  std::array<char, 256> buffer;
  const auto got = stall_.read(buffer);
  if (!got && (got.error == ENOENT || got.error == EOPNOTSUPP)) return;
  if (got) out.stall_percent = parse_stall({buffer.data(), got.value});
  if (!out.stall_percent) out.notes |= note::partial;
}

Result<void> SystemReader::read(SystemMemory& out) {
  std::array<char, 16384> buffer;
  const auto got = meminfo_.read(buffer);
  if (!got) return unreadable(got.error, ProcPath(proc_root_, "", "meminfo"));
  out = SystemMemory();
  out.from = Source::os;
  take(parse_meminfo({buffer.data(), got.value}), proc_root_, out);
  if (!out.total && !out.available) {
    return nonsense(ProcPath(proc_root_, "", "meminfo"), "it has no MemTotal in kB");
  }
  read_stall(out);

  const MemoryLimit limit = limits_.read();
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  out.limit_left = limit.left;
  if (limit.is_partial || !out.total || !out.available) out.notes |= note::partial;
  return {};
}

using procfs::append_container;
using procfs::Container;
using procfs::container_of;
using procfs::parse_statm;
using procfs::PidName;

class LinuxHost final : public HostSource {
 public:
  explicit LinuxHost(const Settings& s)
      : proc_root_(s.proc_root),
        cgroup_root_(s.cgroup_root),
        page_size_(platform::page_size()),
        own_statm_(s.proc_root + "/self/statm"),
        system_(s.proc_root, s.cgroup_root) {}

  Source id() const noexcept override { return Source::os; }

  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    start(out.pid, out);
    MemorySizes quick;
    if ((fields & ~process_memory_field::cheap) == 0 && own_sizes(quick)) {
      store(quick, fields, out);
      return {};
    }
    Result<void> r = read("self", fields, out);
    // "self" is the first thread, which may have ended.
    if (!r && r.why().code == Status::no_process) return read("thread-self", fields, out);
    return r;
  }

  // One fstat and one pread. If there is no resident page, the first thread may have ended.
  bool own_sizes(MemorySizes& out) noexcept override {
    std::array<char, 256> buffer;
    const auto got = own_statm_.read(buffer);
    if (!got) return false;
    const auto m = parse_statm({buffer.data(), got.value});
    return m && m->resident != 0 && to_bytes(*m, page_size_, out);
  }

  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    start(pid, out);
    const PidName who(pid);
    Result<void> r = read(who.view(), fields, out);
    if (r || r.why().code != Status::no_process) return r;
    const auto thread = living_thread(proc_root_, who.view());
    return thread ? read(*thread, fields, out) : std::move(r);
  }

  Result<void> system(SystemMemory& out) override { return system_.read(out); }

  void describe(Usage& row) override {
    Usage* const one = &row;
    describe_all({&one, 1}, [](Usage&) { return true; });
  }
  void describe_texts(Usage& row) override {
    Usage* const one = &row;
    describe_all({&one, 1}, [](Usage&) { return false; });
  }
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> recall) override {
    Describer each(proc_root_, page_size_, boot_, id_);
    for (Usage* const row : rows) each.describe(*row, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    find_own_groups(proc_root_, cgroup_root_, out);
  }
  void name_group(std::string_view path, std::string& out) override {
    const Container of = container_of(path);
    if (!of.empty()) append_container(out, of);
  }

 private:
  static void start(std::uint32_t pid, ProcessMemory& out) noexcept {
    out = ProcessMemory();
    out.pid = pid;
    out.from = Source::os;
  }

  Result<void> read(std::string_view who, FieldSet fields, ProcessMemory& out) {
    return read_process_memory(proc_root_, who, page_size_, id_, fields, out);
  }

  const std::string proc_root_;
  const std::string cgroup_root_;
  const std::size_t page_size_;
  platform::KeptFile own_statm_;
  SystemReader system_;
  procfs::BootTime boot_;
  procfs::BootId id_;
};

}  // namespace

}  // namespace hmn::os

namespace hmn {

std::unique_ptr<HostSource> make_os(const Settings& s) {
  return std::make_unique<os::LinuxHost>(s);
}

}  // namespace hmn
