// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/topology.hpp"

#include <array>
#include <cerrno>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/error_number.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::kfd {
namespace {

using sysfs::path_text;

std::optional<std::uint32_t> small(std::optional<std::uint64_t> value) noexcept {
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// A node's properties take about 800 bytes.
using file_buffer = std::array<char, 4096>;

std::optional<std::uint64_t> memory_of(std::string_view node) {
  const path_text banks{node, "/mem_banks"};
  std::optional<std::uint64_t> sum;
  (void)platform::for_each_entry(banks.c_str(), [&](std::string_view name) {
    const path_text bank{banks.view(), "/", name};
    file_buffer buffer;
    const auto size = parse_bank(sysfs::read_text(bank.view(), "properties", buffer).value);
    if (size) sum = scan::sum(sum.value_or(0), *size);
    return true;
  });
  return sum;
}

}  // namespace

std::optional<std::uint64_t> property(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == key) return scan::decimal(scan::trim(line));
  }
  return std::nullopt;
}

bool parse_node(std::string_view properties, drm::compute_node& into) noexcept {
  const auto minor = small(property(properties, "drm_render_minor"));
  const auto location = small(property(properties, "location_id"));
  if (property(properties, "simd_count").value_or(0) == 0 || !minor || !location) return false;
  into.render_minor = *minor;
  into.location = *location;
  // Older kernels do not report it: there is one domain then.
  into.domain = small(property(properties, "domain")).value_or(0);
  into.gfx_target = small(property(properties, "gfx_target_version")).value_or(0);
  return true;
}

std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept {
  // HSA: 0 system, 1 framebuffer, host-visible, 2 framebuffer, not host-visible
  const auto heap = property(properties, "heap_type");
  if (heap != 1 && heap != 2) return std::nullopt;
  return property(properties, "size_in_bytes");
}

int topology::refresh() {
  const auto now = sysfs::read_number(folder_, "generation_id");
  if (now && generation_ == now.value) return 0;
  nodes_.clear();
  refused_ = 0;
  int failed = now.error;
  const path_text all{folder_, "/nodes"};
  const int listed = platform::for_each_entry(all.c_str(), [&](std::string_view name) {
    const int error = add(path_text{all.view(), "/", name}.view());
    if (is_passing(error)) failed = error;
    return true;
  });
  if (listed != 0) failed = listed;
  const bool holds = now && failed == 0;
  generation_ = holds ? std::optional(now.value) : std::nullopt;
  return now || is_passing(failed) ? failed : listed;
}

// gpu_id is 0 for a CPU node. Reading a node fails with EPERM if a device cgroup hides the GPU from
// this container.
int topology::add(std::string_view node) {
  const auto id = sysfs::read_number(node, "gpu_id");
  file_buffer buffer;
  const auto text = sysfs::read_text(node, "properties", buffer);
  if (is_refused(id.error) || is_refused(text.error)) ++refused_;
  if (!id) return id.error;
  if (id.value == 0 || id.value > UINT32_MAX) return 0;
  drm::compute_node fresh;
  fresh.gpu_id = static_cast<std::uint32_t>(id.value);
  if (!parse_node(text.value, fresh)) return text.error;
  fresh.memory = memory_of(node);
  nodes_.push_back(fresh);
  return 0;
}

}  // namespace hmn::kfd
