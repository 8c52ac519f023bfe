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

// Describes processes one after the other, and keeps /proc open in between.
class ProcessDescriber {
 public:
  ProcessDescriber(const std::string& root, std::size_t page_size, procfs::BootTime& boot_time,
                   procfs::BootId& boot_id);

  // Fills name and its state, start, owner and resident set where they are still unknown, from one
  // reading of stat and the owner of the folder; then command and container, from cmdline and
  // cgroup, unless `reuse_texts` has filled them.
  void describe(Usage& row, FunctionRef<bool(Usage&)> reuse_texts);

 private:
  void identify(procfs::ProcPath& path, Usage& row);
  void set_name(procfs::ProcPath& path, const procfs::Stat& stat, Usage& row);
  void add_texts(procfs::ProcPath& path, Usage& row);
  std::string_view read(procfs::ProcPath& path, std::string_view file, std::span<char> buffer);

  const std::string& root_;
  const std::size_t page_size_;
  procfs::BootTime& boot_time_;
  procfs::BootId& boot_id_;
  const platform::ErrnoOr<platform::Directory> proc_;
  // The last cgroup file and the container that it names, reused for processes of the same group.
  std::string cgroup_text_;
  std::string container_;
};

using procfs::append_command;
using procfs::append_container;
using procfs::Container;
using procfs::find_full_name;
using procfs::max_comm_length;
using procfs::parse_container;
using procfs::parse_stat;
using procfs::PidName;
using procfs::ProcPath;
using procfs::Stat;

NameState classify_error(int error) {
  if (is_gone(error)) return NameState::exited;
  return is_refused(error) ? NameState::protected_process : NameState::unknown;
}

void set_resident(const Stat& stat, std::size_t page_size, Usage& row) {
  if (row.host_resident || stat.is_kernel_thread() || stat.is_dead() || !stat.rss) return;
  row.host_resident = scan::checked_multiply(*stat.rss, page_size);
}

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

ProcessDescriber::ProcessDescriber(const std::string& root, std::size_t page_size,
                                   procfs::BootTime& boot_time, procfs::BootId& boot_id)
    : root_(root),
      page_size_(page_size),
      boot_time_(boot_time),
      boot_id_(boot_id),
      proc_(platform::Directory::open(root.c_str())) {}

std::string_view ProcessDescriber::read(ProcPath& path, std::string_view file,
                                        std::span<char> buffer) {
  const auto result = proc_.value.read_small(path.set_file(file), buffer);
  return {buffer.data(), result ? result.value : 0};
}

void ProcessDescriber::set_name(ProcPath& path, const Stat& stat, Usage& row) {
  row.name_state = stat.is_kernel_thread() ? NameState::kernel : NameState::resolved;
  if (stat.is_kernel_thread()) return;
  std::array<char, 4096> cmdline;
  std::string_view full_name = stat.comm;
  if (stat.comm.size() >= max_comm_length)
    full_name = find_full_name(stat.comm, read(path, "cmdline", cmdline));
  row.name.clear();
  append_utf8(row.name, full_name);
  if (row.name.empty()) row.name_state = NameState::unknown;
}

void ProcessDescriber::describe(Usage& row, FunctionRef<bool(Usage&)> reuse_texts) {
  if (row.pid == 0) return;
  if (!proc_) {
    // Without the tree, no process is known to have exited.
    const NameState state = classify_error(proc_.error);
    if (row.name_state == NameState::unknown && state != NameState::exited) row.name_state = state;
    return;
  }
  ProcPath path("", PidName(row.pid).view(), "");
  if (!is_complete(row)) identify(path, row);
  if (!reuse_texts(row)) add_texts(path, row);
}

void ProcessDescriber::identify(ProcPath& path, Usage& row) {
  std::array<char, 2048> buffer;
  const auto result = proc_.value.read_small(path.set_file("stat"), buffer);
  if (!result) {
    if (row.name_state == NameState::unknown) row.name_state = classify_error(result.error);
    return;
  }
  const auto stat = parse_stat({buffer.data(), result.value});
  if (!stat) return;
  if (row.name_state == NameState::unknown) set_name(path, *stat, row);
  if (!row.start_unix_ns) row.start_unix_ns = boot_time_.unix_ns(root_, stat->starttime);
  if (!row.process_key) row.process_key = boot_id_.find_process_key(root_, *stat);
  set_resident(*stat, page_size_, row);
  if (row.uid) return;
  const auto folder_status = proc_.value.read_status(path.set_file(""));
  if (folder_status) row.uid = folder_status.value.owner;
}

void ProcessDescriber::add_texts(ProcPath& path, Usage& row) {
  std::array<char, 16384> buffer;
  // Limit of Linux before 4.2.
  constexpr std::size_t max_command_size = 4096;
  if (row.command.empty()) {
    const std::string_view cmdline =
        read(path, "cmdline", std::span(buffer).first(max_command_size));
    append_command(row.command, cmdline, cmdline.size() == max_command_size);
  }
  if (!row.container.empty()) return;
  const std::string_view cgroup_text = read(path, "cgroup", buffer);
  if (cgroup_text != cgroup_text_) {
    cgroup_text_ = cgroup_text;
    container_.clear();
    const Container container = parse_container(cgroup_text);
    if (!container.empty()) append_container(container_, container);
  }
  row.container = container_;
}

class SystemReader {
 public:
  SystemReader(const std::string& proc_root, const std::string& cgroup_root);
  Result<void> read(SystemMemory& memory);

 private:
  void read_stall(SystemMemory& memory);

  const std::string proc_root_;
  platform::CachedFile meminfo_;
  platform::CachedFile stall_;
  GroupLimits limits_;
};

using procfs::Amount;
using procfs::Meminfo;
using procfs::parse_meminfo;
using procfs::parse_stall;

// Sum of the zones' low watermarks: a quarter above the minimum (mm/page_alloc.c).
std::uint64_t read_low_watermark(const std::string& proc_root) {
  std::array<char, 32> buffer;
  const ProcPath path(proc_root, "", "sys/vm/min_free_kbytes");
  const auto result = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), result ? result.value : 0);
  const std::uint64_t kilobytes = scan::parse_number(scan::take_line(text)).value_or(0);
  const std::uint64_t bytes = scan::checked_multiply(kilobytes, 1024).value_or(0);
  return bytes + bytes / 4;
}

void store_meminfo(const Meminfo& meminfo, const std::string& proc_root, SystemMemory& memory) {
  memory.total = meminfo.total.value();
  memory.available = meminfo.available.value();
  memory.swap_total = meminfo.swap_total.value();
  memory.swap_free = meminfo.swap_free.value();
  memory.commit_limit = meminfo.commit_limit.value();
  memory.committed = meminfo.committed.value();
  if (meminfo.available.state != Amount::State::missing) return;
  memory.available = meminfo.estimate_available(read_low_watermark(proc_root));
  if (memory.available) memory.notes |= note::estimated;
}

SystemReader::SystemReader(const std::string& proc_root, const std::string& cgroup_root)
    : proc_root_(proc_root),
      meminfo_(proc_root + "/meminfo"),
      stall_(proc_root + "/pressure/memory"),
      limits_(proc_root, cgroup_root) {}

// Kernels without pressure stall information have no such file, or refuse to open it (psi=0).
void SystemReader::read_stall(SystemMemory& memory) {
  std::array<char, 256> buffer;
  const auto result = stall_.read(buffer);
  if (!result && (result.error == ENOENT || result.error == EOPNOTSUPP)) return;
  if (result) memory.stall_percent = parse_stall({buffer.data(), result.value});
  if (!memory.stall_percent) memory.notes |= note::partial;
}

Result<void> SystemReader::read(SystemMemory& memory) {
  std::array<char, 16384> buffer;
  const auto result = meminfo_.read(buffer);
  if (!result) return make_file_failure(result.error, ProcPath(proc_root_, "", "meminfo"));
  memory = SystemMemory();
  memory.source = Source::os;
  store_meminfo(parse_meminfo({buffer.data(), result.value}), proc_root_, memory);
  if (!memory.total && !memory.available) {
    return make_malformed_failure(ProcPath(proc_root_, "", "meminfo"), "it has no MemTotal in kB");
  }
  read_stall(memory);

  const MemoryLimit limit = limits_.read();
  memory.limit = limit.bytes;
  memory.limit_used = limit.used;
  memory.limit_left = limit.left;
  if (limit.is_partial || !memory.total || !memory.available) memory.notes |= note::partial;
  return {};
}

using procfs::find_container;
using procfs::parse_statm;

class LinuxHost final : public HostSource {
 public:
  explicit LinuxHost(const Settings& settings)
      : proc_root_(settings.proc_root),
        cgroup_root_(settings.cgroup_root),
        page_size_(platform::page_size()),
        own_statm_(settings.proc_root + "/self/statm"),
        system_reader_(settings.proc_root, settings.cgroup_root) {}

  Source id() const noexcept override { return Source::os; }

  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    initialize(out.pid, out);
    MemorySizes sizes;
    if ((fields & ~process_memory_field::cheap) == 0 && own_sizes(sizes)) {
      store_sizes(sizes, fields, out);
      return {};
    }
    Result<void> result = read("self", fields, out);
    // "self" is the first thread, which may have ended.
    if (!result && result.failure().code == Status::no_process)
      return read("thread-self", fields, out);
    return result;
  }

  // One fstat and one pread. If there is no resident page, the first thread may have ended.
  bool own_sizes(MemorySizes& out) noexcept override {
    std::array<char, 256> buffer;
    const auto result = own_statm_.read(buffer);
    if (!result) return false;
    const auto statm = parse_statm({buffer.data(), result.value});
    return statm && statm->resident != 0 && convert_pages(*statm, page_size_, out);
  }

  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    initialize(pid, out);
    const PidName process(pid);
    Result<void> result = read(process.view(), fields, out);
    if (result || result.failure().code != Status::no_process) return result;
    const auto thread = find_running_thread(proc_root_, process.view());
    return thread ? read(*thread, fields, out) : std::move(result);
  }

  Result<void> system(SystemMemory& out) override { return system_reader_.read(out); }

  void describe(Usage& row) override {
    Usage* const pointer = &row;
    describe_all({&pointer, 1}, [](Usage&) { return true; });
  }
  void describe_texts(Usage& row) override {
    Usage* const pointer = &row;
    describe_all({&pointer, 1}, [](Usage&) { return false; });
  }
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> reuse_texts) override {
    ProcessDescriber describer(proc_root_, page_size_, boot_time_, boot_id_);
    for (Usage* const row : rows) describer.describe(*row, reuse_texts);
  }
  void own_groups(std::vector<std::string>& out) override {
    find_own_groups(proc_root_, cgroup_root_, out);
  }
  void name_group(std::string_view path, std::string& out) override {
    const Container container = find_container(path);
    if (!container.empty()) append_container(out, container);
  }

 private:
  static void initialize(std::uint32_t pid, ProcessMemory& out) noexcept {
    out = ProcessMemory();
    out.pid = pid;
    out.source = Source::os;
  }

  Result<void> read(std::string_view process, FieldSet fields, ProcessMemory& out) {
    return read_process_memory(proc_root_, process, page_size_, boot_id_, fields, out);
  }

  const std::string proc_root_;
  const std::string cgroup_root_;
  const std::size_t page_size_;
  platform::CachedFile own_statm_;
  SystemReader system_reader_;
  procfs::BootTime boot_time_;
  procfs::BootId boot_id_;
};

}  // namespace

}  // namespace hmn::os

namespace hmn {

std::unique_ptr<HostSource> make_os(const Settings& settings) {
  return std::make_unique<os::LinuxHost>(settings);
}

}  // namespace hmn
