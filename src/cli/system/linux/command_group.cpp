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

// Longest chain of parents; a longer one is of pids that were reused while it was read.
constexpr int most_parents = 4096;

bool is_below_us(const std::string& proc, std::uint32_t pid) {
  const auto own = static_cast<std::uint32_t>(getpid());
  for (int i = 0; i < most_parents && pid != own; ++i) {
    std::array<char, 4096> buffer;
    const auto got = platform::read_small(fmt::format("{}/{}/stat", proc, pid).c_str(), buffer);
    const auto found = got ? procfs::parse_stat({buffer.data(), got.value}) : std::nullopt;
    if (!found || found->ppid == 0) return false;
    pid = found->ppid;
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

  // Begins again, for this descriptor alone: Linux 6.12, cgroup-v2.rst. Earlier kernels refuse the
  // writing, whose text does not matter: with the value itself a copy of the file stays what it is.
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
  State(std::string of_hmn, const Roots& in)
      : home(std::move(of_hmn)), proc(in.proc), peak(home + "/memory.peak") {}

  bool holds_others(const std::vector<ProcessTree::Member>& members) const;
  bool is_inside(std::uint32_t pid) const;
  GroupPeak bound(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) const;

  std::string home;
  std::string proc;
  std::string path;  // of home in the hierarchy
  PeakFile peak;
  std::optional<std::string> device_peaks;  // before the command
  bool others = false;
  bool left = false;
};

// A second look does without those that ended after the first.
bool CommandGroup::State::holds_others(const std::vector<ProcessTree::Member>& members) const {
  const auto is_ours = [&](std::uint32_t pid) {
    return std::any_of(members.begin(), members.end(),
                       [pid](const ProcessTree::Member& each) { return each.pid == pid; }) ||
           is_below_us(proc, pid);
  };
  for (int looks = 0; looks < 2; ++looks) {
    const auto listed =
        procfs::parse_group_members(read_text_file(home + "/cgroup.procs").value_or(""));
    if (std::all_of(listed.begin(), listed.end(), is_ours)) return false;
  }
  return true;
}

// Returns true for a process that has ended.
bool CommandGroup::State::is_inside(std::uint32_t pid) const {
  const auto text = read_text_file(fmt::format("{}/{}/cgroup", proc, pid));
  if (!text || text->empty()) return true;
  const auto its = procfs::parse_v2_membership(*text).path;
  return path == "/" || its == path || its.starts_with(path + "/");
}

GroupPeak CommandGroup::State::bound(std::optional<std::uint64_t> before,
                                     std::optional<std::uint64_t> now) const {
  if (!now) return {std::nullopt, "not reported by the system", {}};
  if (left) return {std::nullopt, member_left, {}};
  if (others) return {now, {}, others_entered};
  if (*now > 0 && (!before || *now <= *before)) return {now, {}, higher_before};
  return {now, {}, {}};
}

const CommandGroup::Kind& CommandGroup::what() {
  static constexpr Kind is{"control group", "control_group",
                           "with hmn itself, page cache and kernel memory", false};
  return is;
}

Expected<CommandGroup> CommandGroup::make(const Roots& in) {
  if (auto foreign = procfs::why_foreign(in.proc)) return failed(*std::move(foreign));
  const auto groups = read_text_file(in.proc + "/self/cgroup").value_or("");
  const std::string path(procfs::parse_v2_membership(groups).path);
  const auto mount =
      in.cgroup.empty()
          ? procfs::find_cgroup_v2_mount(read_text_file(in.proc + "/self/mountinfo").value_or(""))
          : std::optional(in.cgroup);
  if (path.empty() || !mount) return failed("control groups of version 2 are not mounted");
  if (path.find("/..") != std::string::npos) return failed("hmn's control group is not visible");
  auto made = std::make_unique<State>(path == "/" ? *mount : *mount + path, in);
  made->path = path;
  if (!made->peak.before())
    return failed(fmt::format(
        "\"{}\" has no memory.peak (Linux 5.19, of groups with the memory controller but the root)",
        made->home));
  const auto statistics = read_text_file(made->home + "/cgroup.stat").value_or("");
  const bool has_groups = procfs::parse_descendants(statistics).value_or(0) > 0;
  if (has_groups || made->holds_others({}))
    return failed(fmt::format(
        "\"{}\", where hmn is, holds other processes; systemd-run --user --scope makes a group",
        made->home));
  made->device_peaks = read_text_file(made->home + "/dmem.peak");
  made->peak.reset();
  return CommandGroup(std::move(made));
}

CommandGroup::CommandGroup(std::unique_ptr<State> made) : state_(std::move(made)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

// The command is where hmn is.
Expected<Child> CommandGroup::start(const std::vector<std::string>& command, std::string&) const {
  return Child::start(command);
}

void CommandGroup::compare(const std::vector<ProcessTree::Member>& members) {
  auto& in = *state_;
  in.others = in.others || in.holds_others(members);
  in.left = in.left || std::any_of(members.begin(), members.end(),
                                   [&](const auto& each) { return !in.is_inside(each.pid); });
}

GroupPeak CommandGroup::peak() const {
  const auto& file = state_->peak;
  return state_->bound(file.was_reset() ? std::optional<std::uint64_t>(0) : file.before(),
                       file.read());
}

// Reads dmem.peak, which cannot be reset. Peaks of several regions need not be of one time.
GroupPeak CommandGroup::device_peak(std::string_view pci_bus_id) const {
  const auto text = read_text_file(state_->home + "/dmem.peak");
  if (!text || !state_->device_peaks) return {std::nullopt, "not reported by the system", {}};
  const auto now = procfs::parse_video_memory(*text, pci_bus_id);
  auto out =
      state_->bound(procfs::parse_video_memory(*state_->device_peaks, pci_bus_id).bytes, now.bytes);
  if (out.bytes && out.why_bound.empty() && now.regions > 1)
    out.why_bound = "the sum of the peaks of its parts";
  return out;
}

std::optional<std::uint64_t> CommandGroup::current_bytes() const {
  return procfs::parse_cgroup_usage(read_text_file(state_->home + "/memory.current").value_or(""));
}

// None: others may have entered, and adopt_orphans() keeps those of the command in sight.
std::vector<std::uint32_t> CommandGroup::processes() const {
  return {};
}

}  // namespace hmn::cli
