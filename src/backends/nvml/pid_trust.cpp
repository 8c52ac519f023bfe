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

constexpr std::size_t max_checked_rows = 64;
constexpr std::uint64_t max_nvml_descriptors = 64;

constexpr std::string_view control_node = "/dev/nvidiactl";
constexpr std::string_view numbered_node = "/dev/nvidia";
constexpr std::string_view gpu_nodes[] = {numbered_node, "/dev/dxg",   "/dev/nvhost",
                                          "/dev/nvmap",  "/dev/nvgpu", "/dev/dri/"};

// The nodes that NVML itself opens: never those of CUDA (nvidia-uvm) or displays (nvidia-modeset).
bool is_nvml_node(std::string_view target) noexcept {
  if (target == control_node) return true;
  if (!target.starts_with(numbered_node) || target.size() == numbered_node.size()) return false;
  const std::string_view number = target.substr(numbered_node.size());
  return std::ranges::all_of(number, is_digit);
}

bool contains(const std::vector<std::string>& nodes, std::string_view node) noexcept {
  return std::ranges::find(nodes, node) != nodes.end();
}

std::string_view parse_target(std::string_view node) noexcept {
  return node.substr(node.find(' ') + 1);
}

using DescriptorVisitor = FunctionRef<bool(std::string_view name, std::string_view target)>;

// Returns false if some descriptors were unreadable.
bool visit_descriptors(const platform::Directory& folder, DescriptorVisitor visit) {
  std::array<char, 512> target;
  bool is_complete = true;
  const int error = folder.for_each_entry(".", [&](std::string_view name) {
    const auto length = folder.read_link(name.data(), target);
    if (length) return visit(name, {target.data(), length.value});
    is_complete = is_complete && (length.error == ENOENT || length.error == ENAMETOOLONG);
    return true;
  });
  return is_complete && error == 0;
}

bool visit_descriptors(const std::string& folder, DescriptorVisitor visit) {
  const auto directory = platform::Directory::open(folder.c_str());
  return directory && visit_descriptors(directory.value, visit);
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
void PidTrust::begin_opening() {
  lowest_descriptor_ = platform::lowest_free_descriptor();
  nodes_before_ = list_open_nodes();
}

void PidTrust::end_opening() {
  std::vector<OpenNode> nodes;
  for (OpenNode& node : nvml_nodes_) {
    if (is_still_open(node)) nodes.push_back(std::move(node));
  }
  for (OpenNode& node : list_open_nodes()) {
    const bool is_new = is_nvml_node(parse_target(node)) && !contains(nodes_before_, node) &&
                        !contains(nodes, node);
    if (is_new) nodes.push_back(std::move(node));
  }
  nvml_nodes_ = std::move(nodes);
  nodes_before_.clear();
  caller_node_.clear();
  is_checked_ = false;
  sees_our_namespace_ = false;
}

void PidTrust::begin_reading() noexcept {
  is_checked_ = false;
  pids_without_gpu_.clear();
}

bool PidTrust::is_in_initial_namespace() {
  if (!is_in_initial_) is_in_initial_ = procfs::is_in_initial_pid_namespace(proc_root_);
  return *is_in_initial_;
}

bool PidTrust::has_foreign_tree() const {
  return procfs::explain_foreign_tree(proc_root_).has_value();
}

bool PidTrust::holds_no_gpu() {
  if (is_checked_) return caller_node_.empty();
  if (!caller_node_.empty() && is_still_open(caller_node_)) {
    is_checked_ = true;
    return false;
  }
  caller_node_.clear();
  const auto check_descriptor = [&](std::string_view name, std::string_view target) {
    if (!is_gpu_node(target)) return true;
    OpenNode node = compose({name, " ", target});
    if (contains(nvml_nodes_, node)) return true;
    caller_node_ = std::move(node);
    return false;
  };
  const bool is_complete = visit_descriptors(own_descriptors_, check_descriptor);
  is_checked_ = is_complete || !caller_node_.empty();
  return is_complete && caller_node_.empty();
}

bool PidTrust::is_still_open(const OpenNode& node) const {
  std::array<char, 512> target;
  const std::string_view name = std::string_view(node).substr(0, node.find(' '));
  const auto length = platform::read_link(compose({own_descriptors_, "/", name}).c_str(), target);
  return length && std::string_view(target.data(), length.value) == parse_target(node);
}

bool PidTrust::sees_our_namespace(std::span<const MergedProcess> rows) {
  if (sees_our_namespace_) return true;
  const auto checked_rows = rows.first(std::min(rows.size(), max_checked_rows));
  sees_our_namespace_ = std::ranges::any_of(checked_rows, [&](const MergedProcess& row) {
    if (std::ranges::find(pids_without_gpu_, row.pid) != pids_without_gpu_.end()) return false;
    if (process_holds_gpu(row.pid)) return true;
    pids_without_gpu_.push_back(row.pid);
    return false;
  });
  return sees_our_namespace_;
}

bool PidTrust::exists(std::uint32_t pid) const {
  return platform::exists(compose({proc_root_, "/", pid}).c_str());
}

// Numbers below the lowest free one are all in use; the other open descriptors mostly follow it.
// After a hole all are checked, provided that few are open.
std::vector<PidTrust::OpenNode> PidTrust::list_open_nodes() const {
  std::vector<OpenNode> nodes;
  const auto directory = platform::Directory::open(own_descriptors_.c_str());
  if (!directory) return nodes;
  const auto add_node = [&](std::string_view name, std::string_view target) {
    if (is_gpu_node(target)) nodes.push_back(compose({name, " ", target}));
    return true;
  };
  const auto status = directory.value.read_status(".");
  const std::uint64_t open_count = status ? status.value.size : 0;
  const auto first_number = static_cast<std::uint64_t>(lowest_descriptor_);
  std::uint64_t left =
      open_count - first_number;  // without a report, or too low a one: more than are tried
  std::array<char, 512> target;
  for (std::uint64_t i = 0; i < max_nvml_descriptors && left != 0; ++i) {
    const std::string name = compose({first_number + i});
    const auto length = directory.value.read_link(name.c_str(), target);
    if (length.error != ENOENT) {
      --left;
    } else if (open_count != 0 && open_count <= max_nvml_descriptors) {
      visit_descriptors(directory.value, add_node);
      break;
    }
    if (length) add_node(name, {target.data(), length.value});
  }
  return nodes;
}

bool PidTrust::process_holds_gpu(std::uint32_t pid) const {
  bool holds_gpu = false;
  visit_descriptors(compose({proc_root_, "/", pid, "/fd"}),
                    [&](std::string_view, std::string_view target) {
                      holds_gpu = target.starts_with(numbered_node);
                      return !holds_gpu;
                    });
  return holds_gpu;
}

}  // namespace hmn::nvml
