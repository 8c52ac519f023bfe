// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/system/file.hpp"
#include "platform/file.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::cli {
namespace {

constexpr const char* others_entered = "other processes were in the group";
constexpr const char* member_left = "a process of the command was in another control group";
constexpr const char* higher_before = "the group had used that much before the command was started";

// Longest chain of parents; in a longer one pids were reused while it was read.
constexpr int max_parents = 4096;

bool is_own_descendant(const std::string& proc, std::uint32_t pid) {
  const auto own = static_cast<std::uint32_t>(getpid());
  for (int i = 0; i < max_parents && pid != own; ++i) {
    std::array<char, 4096> buffer;
    const auto length = platform::read_small(fmt::format("{}/{}/stat", proc, pid).c_str(), buffer);
    const auto process_stat =
        length ? procfs::parse_stat({buffer.data(), length.value}) : std::nullopt;
    if (!process_stat || process_stat->ppid == 0) return false;
    pid = process_stat->ppid;
  }
  return pid == own;
}

}  // namespace

// memory.peak, Linux 5.19: everything charged to the group, with page cache and kernel memory.
class PeakFile {
 public:
  explicit PeakFile(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CLOEXEC)), is_writable_(file_ >= 0) {
    if (file_ < 0) file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    before_ = read();
  }
  PeakFile(const PeakFile&) = delete;
  PeakFile& operator=(const PeakFile&) = delete;
  ~PeakFile() {
    if (file_ >= 0) close(file_);
  }

  // Restarts the peak, for this descriptor only: Linux 6.12, cgroup-v2.rst. Earlier kernels refuse
  // the write. Its text does not matter; the value itself leaves a copied file (in tests)
  // unchanged.
  void reset() {
    if (!is_writable_ || !before_) return;
    const auto text = fmt::format("{}\n", *before_);
    if (pwrite(file_, text.data(), text.size(), 0) < 0) return;
    const auto now = read();
    was_reset_ = now && *now < *before_;
    before_ = now;
  }
  std::optional<std::uint64_t> read() const {
    std::array<char, 64> text;
    const auto size = file_ >= 0 ? pread(file_, text.data(), text.size(), 0) : -1;
    if (size <= 0) return std::nullopt;
    return procfs::parse_cgroup_usage({text.data(), static_cast<std::size_t>(size)});
  }
  const std::optional<std::uint64_t>& before() const { return before_; }
  bool was_reset() const { return was_reset_; }

 private:
  int file_;
  bool is_writable_;
  std::optional<std::uint64_t> before_;
  bool was_reset_ = false;
};

struct CommandGroup::State {
  State(std::string group_folder, const Roots& roots)
      : folder(std::move(group_folder)), proc(roots.proc), peak(folder + "/memory.peak") {}

  bool holds_others(const std::vector<ProcessTree::Member>& members) const;
  bool is_inside(std::uint32_t pid) const;
  GroupPeak make_peak(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) const;

  std::string folder;
  std::string proc;
  std::string path;  // of the group in the hierarchy
  PeakFile peak;
  std::optional<std::string> device_peaks;  // before the command
  bool saw_others = false;
  bool saw_departure = false;
};

// The second attempt no longer sees processes that ended during the first.
bool CommandGroup::State::holds_others(const std::vector<ProcessTree::Member>& members) const {
  const auto is_ours = [&](std::uint32_t pid) {
    return std::any_of(members.begin(), members.end(),
                       [pid](const ProcessTree::Member& member) { return member.pid == pid; }) ||
           is_own_descendant(proc, pid);
  };
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto pids =
        procfs::parse_group_pids(read_text_file(folder + "/cgroup.procs").value_or(""));
    if (std::all_of(pids.begin(), pids.end(), is_ours)) return false;
  }
  return true;
}

// Returns true for a process that has ended.
bool CommandGroup::State::is_inside(std::uint32_t pid) const {
  const auto text = read_text_file(fmt::format("{}/{}/cgroup", proc, pid));
  if (!text || text->empty()) return true;
  const auto group_path = procfs::parse_v2_membership(*text).path;
  return path == "/" || group_path == path || group_path.starts_with(path + "/");
}

GroupPeak CommandGroup::State::make_peak(std::optional<std::uint64_t> before,
                                         std::optional<std::uint64_t> now) const {
  if (!now) return {std::nullopt, "not reported by the system", {}};
  if (saw_departure) return {std::nullopt, member_left, {}};
  if (saw_others) return {now, {}, others_entered};
  if (*now > 0 && (!before || *now <= *before)) return {now, {}, higher_before};
  return {now, {}, {}};
}

const CommandGroup::Kind& CommandGroup::kind() {
  static constexpr Kind description{"control group", "control_group",
                                    "with hmn itself, page cache and kernel memory", false};
  return description;
}

Expected<CommandGroup> CommandGroup::make(const Roots& roots) {
  if (auto foreign = procfs::explain_foreign_tree(roots.proc))
    return make_failure(*std::move(foreign));
  const auto groups = read_text_file(roots.proc + "/self/cgroup").value_or("");
  const std::string path(procfs::parse_v2_membership(groups).path);
  const auto mount = roots.cgroup.empty()
                         ? procfs::find_cgroup_v2_mount(
                               read_text_file(roots.proc + "/self/mountinfo").value_or(""))
                         : std::optional(roots.cgroup);
  if (path.empty() || !mount) return make_failure("control groups of version 2 are not mounted");
  if (path.find("/..") != std::string::npos)
    return make_failure("hmn's control group is not visible");
  auto state = std::make_unique<State>(path == "/" ? *mount : *mount + path, roots);
  state->path = path;
  if (!state->peak.before())
    return make_failure(fmt::format(
        "\"{}\" has no memory.peak (Linux 5.19, of groups with the memory controller but the root)",
        state->folder));
  const auto statistics = read_text_file(state->folder + "/cgroup.stat").value_or("");
  const bool has_groups = procfs::parse_descendants(statistics).value_or(0) > 0;
  if (has_groups || state->holds_others({}))
    return make_failure(fmt::format(
        "\"{}\", where hmn is, holds other processes; systemd-run --user --scope makes a group",
        state->folder));
  state->device_peaks = read_text_file(state->folder + "/dmem.peak");
  state->peak.reset();
  return CommandGroup(std::move(state));
}

CommandGroup::CommandGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

// The command starts in hmn's own group.
Expected<Child> CommandGroup::start(const std::vector<std::string>& command, std::string&) const {
  return Child::start(command);
}

void CommandGroup::check_members(const std::vector<ProcessTree::Member>& members) {
  auto& state = *state_;
  state.saw_others = state.saw_others || state.holds_others(members);
  state.saw_departure =
      state.saw_departure || std::any_of(members.begin(), members.end(), [&](const auto& member) {
        return !state.is_inside(member.pid);
      });
}

GroupPeak CommandGroup::peak() const {
  const auto& file = state_->peak;
  return state_->make_peak(file.was_reset() ? std::optional<std::uint64_t>(0) : file.before(),
                           file.read());
}

// Reads dmem.peak, which cannot be reset. Peaks of several regions need not be of one time.
GroupPeak CommandGroup::device_peak(std::string_view pci_bus_id) const {
  const auto text = read_text_file(state_->folder + "/dmem.peak");
  if (!text || !state_->device_peaks) return {std::nullopt, "not reported by the system", {}};
  const auto now = procfs::parse_video_memory(*text, pci_bus_id);
  auto result = state_->make_peak(
      procfs::parse_video_memory(*state_->device_peaks, pci_bus_id).bytes, now.bytes);
  if (result.bytes && result.bound_reason.empty() && now.regions > 1)
    result.bound_reason = "the sum of the peaks of its parts";
  return result;
}

std::optional<std::uint64_t> CommandGroup::current_bytes() const {
  return procfs::parse_cgroup_usage(
      read_text_file(state_->folder + "/memory.current").value_or(""));
}

// None: others may have entered, and adopt_orphans() keeps those of the command in sight.
std::vector<std::uint32_t> CommandGroup::processes() const {
  return {};
}

}  // namespace hmn::cli
