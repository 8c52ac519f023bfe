// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dmem/survey.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/cgroup.hpp"

namespace hmn::dmem {
namespace {

bool is_same_address(std::string_view device, std::string_view pci_bus_id) noexcept {
  const auto address = parse_pci_address(device);
  return address && address == parse_pci_address(pci_bus_id);
}

// Bounds of a reading. Each level holds a descriptor while it is scanned.
constexpr std::size_t max_folders = 4096;
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_bytes = 65536;

// Recognizes a group's own files, such as "memory.max": no group can have such a name.
bool is_file(std::string_view name) noexcept {
  constexpr std::string_view controllers =
      "cgroup cpu cpuset dmem hugetlb io irq memory misc perf_event pids rdma";
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && scan::has_part(controllers, ' ', name.substr(0, dot));
}

bool is_gone(int error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == ENODEV;
}

bool has_vram_use(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto region = parse_region(scan::take_line(text));
    if (region && region->bytes != 0 && classify_region(region->name) == PoolKind::vram)
      return true;
  }
  return false;
}

class GroupWalk {
 public:
  GroupWalk(HostSource& host, const std::string& root, GroupMemory& memory)
      : host_(host), group_(root), root_size_(root.size()), memory_(memory) {}

  Result<void> run() {
    visit();
    if (missed_ == 0) return {};
    return FailureFactory{Source::dmem}(
        Status::limit, {missed_, " control groups are left out: past the first ", max_folders,
                        ", too deep, or unreadable"});
  }

 private:
  [[nodiscard]] bool is_root() const noexcept { return group_.size() == root_size_; }

  // A group that is gone is no error.
  bool read(const char* file, std::string& text) {
    const auto is_cut = platform::read_whole((group_ + file).c_str(), text, max_bytes);
    if (is_cut && !is_cut.value) return true;
    miss(is_cut.error);
    return false;
  }

  void miss(int error) noexcept {
    if (!is_gone(error)) ++missed_;
  }

  // A group's value includes those of all groups inside it. A machine's root has no value.
  void visit() {
    std::string used;
    if (read("/dmem.current", used) ? !has_vram_use(used) : !is_root()) return;
    std::string name;
    if (!is_root()) host_.name_group(path(), name);
    if (name.empty()) {
      const auto divided = is_enabled_for_children(group_);
      // An unreadable group may contain others; a removed one contained none.
      if (!divided && !is_gone(divided.error)) return miss(divided.error);
      if (divided.value) return visit_groups();
    }
    add(used, name.empty() ? path() : name);
  }

  [[nodiscard]] std::string_view path() const noexcept {
    return is_root() ? "/" : std::string_view(group_).substr(root_size_);
  }

  void visit_groups() {
    const std::size_t size = group_.size();
    ++depth_;
    const int error = platform::for_each_entry(group_.c_str(), [&](std::string_view name) {
      if (is_file(name)) return true;
      if (++visited_ > max_folders || depth_ > max_depth) {
        ++missed_;
        return true;
      }
      group_ += '/';
      group_ += name;
      visit();
      group_.resize(size);
      return true;
    });
    if (error != 0) miss(error);
    --depth_;
  }

  void add(std::string_view used, std::string_view name) {
    const auto number = static_cast<std::uint32_t>(memory_.names.size());
    const std::size_t before = memory_.parts.size();
    for (std::string_view rest = used; !rest.empty();) {
      const auto region = parse_region(scan::take_line(rest));
      const auto device = region ? parse_pci_address(region->device) : std::nullopt;
      if (!device || classify_region(region->name) != PoolKind::vram || is_known(*device, before))
        continue;
      const auto bytes = sum_regions(used, region->device, {PoolKind::vram});
      if (!bytes) ++missed_;
      if (bytes.value_or(0) == 0) continue;
      memory_.parts.push_back({number, *device, *bytes, find_limit(region->device)});
    }
    if (memory_.parts.size() != before) memory_.names.emplace_back(name);
  }

  [[nodiscard]] bool is_known(const PciAddress& device, std::size_t start) const noexcept {
    for (std::size_t i = start; i < memory_.parts.size(); ++i) {
      if (memory_.parts[i].device == device) return true;
    }
    return false;
  }

  // Returns none if an ancestor is unreadable: the tightest limit is then unknown.
  std::optional<std::uint64_t> find_limit(std::string_view device) {
    const std::string scanned_group = group_;
    std::optional<std::uint64_t> tightest;
    const std::size_t missed = missed_;
    for (std::string text;; group_.resize(group_.rfind('/'))) {
      const auto limit =
          read("/dmem.max", text) ? sum_regions(text, device, {PoolKind::vram}) : std::nullopt;
      if (limit && (!tightest || *limit < *tightest)) tightest = limit;
      if (missed_ != missed) tightest.reset();
      if (is_root()) break;
    }
    group_ = scanned_group;
    return tightest;
  }

  HostSource& host_;
  std::string group_;  // folder being scanned
  const std::size_t root_size_;
  GroupMemory& memory_;
  std::size_t depth_ = 0;
  std::size_t visited_ = 0;
  std::size_t missed_ = 0;
};

}  // namespace

std::optional<Region> parse_region(std::string_view line) noexcept {
  const auto parts = procfs::split_dmem_line(line);
  if (!parts || parts->device.empty() || parts->region.empty()) return std::nullopt;
  const bool is_unlimited = parts->value == "max";
  const auto bytes = scan::parse_number(parts->value);
  if (!bytes && !is_unlimited) return std::nullopt;
  return Region{parts->device, parts->region, is_unlimited, bytes.value_or(0)};
}

PoolKind classify_region(std::string_view name) noexcept {
  if (name.starts_with("vram")) return PoolKind::vram;  // one per tile on xe
  if (name == "stolen") return PoolKind::stolen;
  return name == "gtt" ? PoolKind::host : PoolKind::main;
}

namespace {

bool matches_pool(std::string_view region, const PoolKey& pool) noexcept {
  if (classify_region(region) != pool.kind) return false;
  if (pool.instance == 0) return true;
  region.remove_prefix(std::min(region.find_first_of("0123456789"), region.size()));
  const auto number = scan::parse_number(region);
  return number && *number == pool.instance - 1;
}

}  // namespace

bool is_understood(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::string_view line = scan::take_line(text);
    if (line.starts_with("drm/") && !parse_region(line)) return false;
  }
  return true;
}

std::optional<std::uint64_t> sum_regions(std::string_view text, std::string_view pci_bus_id,
                                         PoolKey pool) noexcept {
  std::optional<std::uint64_t> sum;
  while (!text.empty()) {
    const std::string_view line = scan::take_line(text);
    if (line.empty()) continue;
    const auto region = parse_region(line);
    // Regions of other subsystems are ignored; a malformed one of DRM may be ours.
    if (!region && line.starts_with("drm/")) return std::nullopt;
    if (!region || !matches_pool(region->name, pool) ||
        !is_same_address(region->device, pci_bus_id))
      continue;
    sum = region->is_unlimited ? std::nullopt : scan::checked_add(sum.value_or(0), region->bytes);
    if (!sum) return std::nullopt;
  }
  return sum;
}

platform::ErrnoOr<bool> is_enabled_for_children(const std::string& group) {
  std::array<char, 512> buffer;
  const auto result = platform::read_small((group + "/cgroup.subtree_control").c_str(), buffer);
  if (!result) return {false, result.error};
  std::string_view text(buffer.data(), result.value);
  return {scan::has_part(scan::take_line(text), ' ', "dmem"), 0};
}

Result<void> survey(HostSource& host, const std::string& root, GroupMemory& memory) {
  return GroupWalk(host, root, memory).run();
}

}  // namespace hmn::dmem
