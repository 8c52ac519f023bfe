// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/pid_trust.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "model/character.hpp"
#include "model/function_ref.hpp"
#include "model/message_text.hpp"
#include "platform/file.hpp"
#include "procfs/tree.hpp"

namespace hmn::nvml {
namespace {

constexpr std::size_t most_rows_checked = 64;
constexpr std::uint64_t most_descriptors_of_nvml = 64;

constexpr std::string_view control_node = "/dev/nvidiactl";
constexpr std::string_view numbered_node = "/dev/nvidia";
constexpr std::string_view gpu_nodes[] = {numbered_node, "/dev/dxg",   "/dev/nvhost",
                                          "/dev/nvmap",  "/dev/nvgpu", "/dev/dri/"};

// The nodes that NVML itself opens: never those of CUDA (nvidia-uvm) or displays (nvidia-modeset).
bool is_node_of_nvml(std::string_view target) noexcept {
  if (target == control_node) return true;
  if (!target.starts_with(numbered_node) || target.size() == numbered_node.size()) return false;
  const std::string_view number = target.substr(numbered_node.size());
  return std::ranges::all_of(number, is_digit);
}

bool has(const std::vector<std::string>& all, std::string_view one) noexcept {
  return std::ranges::find(all, one) != all.end();
}

std::string_view target_of(std::string_view held) noexcept {
  return held.substr(held.find(' ') + 1);
}

using DescriptorVisitor = FunctionRef<bool(std::string_view name, std::string_view target)>;

// Returns false if some descriptors were unreadable.
bool each_descriptor(const platform::Directory& folder, DescriptorVisitor visit) {
  std::array<char, 512> target;
  bool all = true;
  const int error = folder.for_each_entry(".", [&](std::string_view name) {
    const auto length = folder.read_link(name.data(), target);
    if (length) return visit(name, {target.data(), length.value});
    all = all && (length.error == ENOENT || length.error == ENAMETOOLONG);
    return true;
  });
  return all && error == 0;
}

bool each_descriptor(const std::string& folder, DescriptorVisitor visit) {
  const auto opened = platform::Directory::open(folder.c_str());
  return opened && each_descriptor(opened.value, visit);
}

}  // namespace

bool is_gpu_node(std::string_view target) noexcept {
  return std::ranges::any_of(gpu_nodes,
                             [&](std::string_view node) { return target.starts_with(node); });
}

PidTrust::PidTrust(const std::string& proc_root)
    : proc_root_(proc_root), own_descriptors_(proc_root + "/self/fd") {}

// NVML's descriptors get the lowest free numbers. Those beyond what is checked count as the
// caller's: its use is then unknown rather than wrong.
void PidTrust::before_opening() {
  lowest_ = platform::lowest_free_descriptor();
  before_ = nodes_from_lowest();
}

void PidTrust::after_opening() {
  std::vector<Held> own;
  for (Held& h : own_) {
    if (is_still(h)) own.push_back(std::move(h));
  }
  for (Held& h : nodes_from_lowest()) {
    const bool is_its = is_node_of_nvml(target_of(h)) && !has(before_, h) && !has(own, h);
    if (is_its) own.push_back(std::move(h));
  }
  own_ = std::move(own);
  before_.clear();
  found_.clear();
  is_looked_at_ = false;
  sees_ours_ = false;
}

void PidTrust::begin_reading() noexcept {
  is_looked_at_ = false;
  seen_without_.clear();
}

bool PidTrust::in_initial_namespace() {
  if (!initial_) initial_ = procfs::is_in_initial_pid_namespace(proc_root_);
  return *initial_;
}

bool PidTrust::has_foreign_tree() const {
  return procfs::why_foreign(proc_root_).has_value();
}

bool PidTrust::holds_no_gpu() {
  if (is_looked_at_) return found_.empty();
  if (!found_.empty() && is_still(found_)) {
    is_looked_at_ = true;
    return false;
  }
  found_.clear();
  const auto look = [&](std::string_view name, std::string_view target) {
    if (!is_gpu_node(target)) return true;
    Held one = compose({name, " ", target});
    if (has(own_, one)) return true;
    found_ = std::move(one);
    return false;
  };
  const bool all = each_descriptor(own_descriptors_, look);
  is_looked_at_ = all || !found_.empty();
  return all && found_.empty();
}

bool PidTrust::is_still(const Held& one) const {
  std::array<char, 512> target;
  const std::string_view name = std::string_view(one).substr(0, one.find(' '));
  const auto length = platform::read_link(compose({own_descriptors_, "/", name}).c_str(), target);
  return length && std::string_view(target.data(), length.value) == target_of(one);
}

bool PidTrust::sees_our_namespace(std::span<const MergedProcess> rows) {
  if (sees_ours_) return true;
  const auto checked = rows.first(std::min(rows.size(), most_rows_checked));
  sees_ours_ = std::ranges::any_of(checked, [&](const MergedProcess& row) {
    if (std::ranges::find(seen_without_, row.pid) != seen_without_.end()) return false;
    if (process_holds_gpu(row.pid)) return true;
    seen_without_.push_back(row.pid);
    return false;
  });
  return sees_ours_;
}

bool PidTrust::exists(std::uint32_t pid) const {
  return platform::exists(compose({proc_root_, "/", pid}).c_str());
}

// If the kernel reports how many descriptors are open, all numbers below the lowest free one are,
// and the others are mostly the next ones. If there is a hole among them, all are checked, if few
// are open.
std::vector<PidTrust::Held> PidTrust::nodes_from_lowest() const {
  std::vector<Held> all;
  const auto opened = platform::Directory::open(own_descriptors_.c_str());
  if (!opened) return all;
  const auto note = [&](std::string_view name, std::string_view target) {
    if (is_gpu_node(target)) all.push_back(compose({name, " ", target}));
    return true;
  };
  const auto status = opened.value.status_of(".");
  const std::uint64_t open = status ? status.value.size : 0;
  const auto below = static_cast<std::uint64_t>(lowest_);
  std::uint64_t left = open - below;  // without a report, or too low a one: more than are tried
  std::array<char, 512> target;
  for (std::uint64_t i = 0; i < most_descriptors_of_nvml && left != 0; ++i) {
    const std::string name = compose({below + i});
    const auto length = opened.value.read_link(name.c_str(), target);
    if (length.error != ENOENT) {
      --left;
    } else if (open != 0 && open <= most_descriptors_of_nvml) {
      each_descriptor(opened.value, note);
      break;
    }
    if (length) note(name, {target.data(), length.value});
  }
  return all;
}

bool PidTrust::process_holds_gpu(std::uint32_t pid) const {
  bool holds = false;
  each_descriptor(compose({proc_root_, "/", pid, "/fd"}),
                  [&](std::string_view, std::string_view target) {
                    holds = target.starts_with(numbered_node);
                    return !holds;
                  });
  return holds;
}

}  // namespace hmn::nvml
