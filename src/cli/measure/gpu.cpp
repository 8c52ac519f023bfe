// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "cli/measure/snapshot_records.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::vendor_id;

std::vector<hypomnesis::pool> find_parts(const std::vector<hypomnesis::pool>& pools,
                                         const hypomnesis::pool& whole) {
  std::vector<hypomnesis::pool> parts;
  for (const auto& pool : filter_by_device(pools, whole.device_index))
    if (pool.kind == whole.kind && pool.instance != 0) parts.push_back(pool);
  return parts;
}

// Returns the text of pci.ids, of the package hwdata; empty: it is not installed.
std::string read_pci_ids() {
  constexpr std::uint64_t max_size = std::uint64_t{16} << 20U;
  std::vector<std::string> paths{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
  if (const auto override_path = get_environment("HMN_PCI_IDS")) paths = {*override_path};
  for (const auto& path : paths)
    if (auto text = read_whole(path, max_size)) return *std::move(text);
  return {};
}

std::string lookup_product_name(const hypomnesis::device& device) {
  static std::mutex mutex;
  static std::map<std::pair<vendor_id, std::uint32_t>, std::string> cache;
  if (!device.pci_device) return {};
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = cache.try_emplace({device.vendor, *device.pci_device});
  if (is_new)
    entry->second = find_product_name(read_pci_ids(), number(device.vendor), *device.pci_device);
  return entry->second;
}

// Names a card that its driver has no name for: by pci.ids, as lspci -nn does, or by its driver.
std::optional<std::string> name_from_ids(const Gpu& gpu) {
  const auto vendor = vendor_name(gpu.device.vendor);
  if (!gpu.product.empty())
    return fmt::format("{}{}{}", vendor.value_or(""), vendor ? " " : "", gpu.product);
  if (!vendor && gpu.driver.empty()) return std::nullopt;
  const auto maker = vendor.value_or(gpu.driver);
  if (gpu.device.vendor != vendor_id::unknown && gpu.device.pci_device)
    return fmt::format("{} {:04x}:{:04x}", maker, number(gpu.device.vendor),
                       *gpu.device.pci_device);
  if (gpu.driver.empty()) return std::nullopt;
  return fmt::format("{} GPU", maker);
}

}  // namespace

std::tuple<std::uint32_t, bool, std::uint32_t> make_device_sort_key(
    const hypomnesis::device& device) noexcept {
  return {device.parent_index.value_or(device.index), device.parent_index.has_value(),
          device.index};
}

bool is_divided(const hypomnesis::device& device) noexcept {
  return has(device.notes, hypomnesis::note::divided);
}

std::optional<hypomnesis::pool> find_main_pool(const std::vector<hypomnesis::pool>& pools,
                                               std::uint32_t index) {
  for (const auto& pool : filter_by_device(pools, index))
    if (pool.is_main) return pool;
  return std::nullopt;
}

std::vector<Gpu> list_gpus(const Session& session, const hypomnesis::snapshot& snapshot) {
  const auto pools = snapshot.pools();
  std::vector<Gpu> all;
  for (const auto& device : snapshot.devices()) {
    all.push_back({device, find_main_pool(pools, device.index)});
    if (all.back().memory) all.back().parts = find_parts(pools, *all.back().memory);
    // A simulated device's ids do not refer to this machine.
    if (session.is_simulated() || device.name) continue;
    all.back().product = lookup_product_name(device);
    all.back().driver = find_kernel_driver(device);
  }
  return all;
}

std::string explain_state(const hypomnesis::snapshot& snapshot, const hypomnesis::device& device,
                          hypomnesis::part subject) {
  if (device.state == hypomnesis::run_state::unreadable)
    for (const auto& diagnostic : snapshot.diagnostics())
      if (diagnostic.device_index == device.index && !diagnostic.pid && is_fault(diagnostic))
        return diagnostic.message;
  const auto reason = snapshot.reason(device.index, subject);
  return reason ? reason->message : std::string();
}

GpuMap make_gpu_map(const std::vector<Gpu>& gpus) {
  GpuMap all;
  for (const auto& gpu : gpus) all[gpu.device.index] = std::make_shared<const Gpu>(gpu);
  return all;
}

std::shared_ptr<const Gpu> find_or_add_gpu(GpuMap& gpus, std::uint32_t index) {
  auto& gpu = gpus[index];
  if (!gpu) {
    Gpu unlisted;
    unlisted.device.index = index;
    gpu = std::make_shared<const Gpu>(unlisted);
  }
  return gpu;
}

std::string find_product_name(std::string_view pci_ids, std::uint32_t vendor,
                              std::uint32_t device) {
  const auto key = fmt::format("\t{:04x}  ", device);
  auto position = pci_ids.find(fmt::format("\n{:04x}  ", vendor));
  while (position != std::string_view::npos) {
    position = pci_ids.find('\n', position + 1);
    if (position == std::string_view::npos) break;
    auto line = pci_ids.substr(position + 1);
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with('\t') && !line.starts_with('#')) break;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const auto begin = line.find('[');
    const auto end = line.rfind(']');
    const bool has_product =
        begin != std::string_view::npos && end != std::string_view::npos && begin + 1 < end;
    return std::string(has_product ? line.substr(begin + 1, end - begin - 1) : line);
  }
  return {};
}

std::optional<std::string> get_display_name(const Gpu& gpu) {
  return gpu.device.name ? gpu.device.name : name_from_ids(gpu);
}

std::string format_gpu_label(const Gpu& gpu) {
  auto label = fmt::format("GPU {}", gpu.device.index);
  if (const auto name = get_display_name(gpu)) label += fmt::format(" [{}]", *name);
  if (gpu.device.parent_index) label += fmt::format(" in GPU {}", *gpu.device.parent_index);
  return label;
}

std::optional<double> compute_fraction(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

bool uses_host_memory(const Gpu& gpu) noexcept {
  using hypomnesis::pool_kind;
  return gpu.memory &&
         (gpu.memory->kind == pool_kind::host || gpu.memory->kind == pool_kind::unified);
}

const hypomnesis::pool* find_largest_part(const Gpu& gpu) noexcept {
  if (gpu.parts.empty()) return gpu.memory ? &*gpu.memory : nullptr;
  return &*std::max_element(gpu.parts.begin(), gpu.parts.end(), [](const auto& a, const auto& b) {
    return a.usable_bytes < b.usable_bytes;
  });
}

PoolUse split_use(const hypomnesis::usage& row, const Gpu& gpu) noexcept {
  using hypomnesis::pool_kind;
  const auto& [used, host] = std::tie(row.used_bytes, row.host_pool_bytes);
  PoolUse use{used, host, used};
  const bool includes_host = gpu.device.memory_kind == hypomnesis::device_memory::unified;
  if (includes_host && used && host) use.own = *used - std::min(*used, *host);
  if (!gpu.memory) return use;
  if (gpu.memory->kind == pool_kind::host && host) use.main = host;
  if (gpu.memory->kind == pool_kind::vram) use.main = use.own;
  return use;
}

std::optional<std::uint64_t> max_used_bytes(const Gpu& gpu) noexcept {
  if (!gpu.memory || has(gpu.memory->notes, hypomnesis::note::stale)) return std::nullopt;
  const auto& [used, total] = std::tie(gpu.memory->used_bytes, gpu.memory->total_bytes);
  const bool is_bound = has(gpu.memory->notes, hypomnesis::note::lower_bound);
  const bool is_described = gpu.memory->backend == hypomnesis::backend_id::simulated;
  if (used == 0u && !is_bound) return used;
  return used && !is_bound && !is_described ? used : total;
}

std::optional<double> compute_used_fraction(const Gpu& gpu) {
  if (!gpu.memory || !gpu.memory->total_bytes || !gpu.memory->used_bytes) return std::nullopt;
  const auto& pool = *gpu.memory;
  if (pool.free_bytes)
    return compute_fraction(*pool.total_bytes - *pool.free_bytes, *pool.total_bytes);
  return compute_fraction(*pool.used_bytes, *pool.total_bytes);
}

namespace {

using hypomnesis::part;
using hypomnesis::pool_field;
using hypomnesis::run_state;

FreeMemory make_free_memory(Gpu gpu, const hypomnesis::snapshot& snapshot) {
  FreeMemory result;
  if (const auto* const memory = find_largest_part(gpu)) {
    result.total = memory->total_bytes;
    result.bytes = memory->usable_bytes;
  }
  result.is_estimated = result.bytes && gpu.device.state == run_state::asleep;
  if (!result.bytes) result.reason = explain_unusable_memory(gpu, snapshot);
  result.gpu = std::move(gpu);
  return result;
}

using DeviceChoice = std::vector<const FreeMemory*>;

DeviceChoice select_vendor(DeviceChoice all, hypomnesis::vendor_id vendor) {
  std::erase_if(all,
                [vendor](const auto* candidate) { return candidate->gpu.device.vendor != vendor; });
  return all;
}

// Leaves out devices that no longer fit into the RAM that they share with earlier ones. What one
// has beyond that RAM is its own.
DeviceChoice select_fitting(const DeviceChoice& all,
                            std::optional<std::uint64_t> FreeMemory::*capacity,
                            std::uint64_t min_bytes, std::optional<std::uint64_t> ram) {
  if (!ram) return all;
  DeviceChoice fitting;
  auto left = *ram;
  for (const auto* candidate : all) {
    if (uses_host_memory(candidate->gpu)) {
      const auto own = (candidate->*capacity).value_or(0);
      left += own - std::min(own, *ram);
      if (left < min_bytes) continue;
      left -= min_bytes;
    }
    fitting.push_back(candidate);
  }
  return fitting;
}

// Returns whether limits of control groups leave less than the machine has available.
bool is_limited(const hypomnesis::system_memory& ram) {
  return ram.limit_bytes && ram.usable_bytes && ram.available_bytes &&
         *ram.usable_bytes < *ram.available_bytes && *ram.usable_bytes <= *ram.limit_bytes;
}

}  // namespace

std::string explain_unusable_memory(const Gpu& gpu, const hypomnesis::snapshot& snapshot) {
  return snapshot.reason(gpu.device.index, part::pools, number(pool_field::usable))->message;
}

std::vector<FreeMemory> list_free_memory(const Session& session,
                                         const hypomnesis::snapshot& snapshot) {
  std::vector<FreeMemory> all;
  for (const auto& gpu : list_gpus(session, snapshot))
    if (!is_divided(gpu.device)) all.push_back(make_free_memory(gpu, snapshot));
  return all;
}

std::vector<FreeMemory> find_largest_free(const std::vector<FreeMemory>& all,
                                          std::uint64_t min_bytes, std::size_t count,
                                          std::optional<std::uint64_t> ram) {
  constexpr auto bytes = &FreeMemory::bytes;
  DeviceChoice candidates;
  for (const auto& memory : all)
    if (memory.bytes && *memory.bytes >= min_bytes) candidates.push_back(&memory);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto* a, const auto* b) { return *a->bytes > *b->bytes; });
  for (const auto* first : candidates) {
    auto selection =
        select_fitting(select_vendor(candidates, first->gpu.device.vendor), bytes, min_bytes, ram);
    if (selection.size() < count) continue;
    selection.resize(count);
    std::sort(selection.begin(), selection.end());  // as in the list
    std::vector<FreeMemory> result;
    for (const auto* memory : selection) result.push_back(*memory);
    return result;
  }
  return {};
}

bool can_never_fit(const std::vector<FreeMemory>& all, std::uint64_t min_bytes, std::size_t count,
                   std::optional<std::uint64_t> ram) {
  constexpr auto total = &FreeMemory::total;
  DeviceChoice candidates;
  for (const auto& memory : all)
    if (!memory.total || *memory.total >= min_bytes) candidates.push_back(&memory);
  return std::none_of(candidates.begin(), candidates.end(), [&](const auto* candidate) {
    return select_fitting(select_vendor(candidates, candidate->gpu.device.vendor), total, min_bytes,
                          ram)
               .size() >= count;
  });
}

std::optional<std::uint64_t> compute_limit_used_bytes(const hypomnesis::system_memory& ram) {
  // Where the machine has less left, what the limit leaves is not known.
  if (!is_limited(ram) || !ram.limit_used_bytes) return ram.limit_used_bytes;
  return std::min(*ram.limit_used_bytes, *ram.limit_bytes - *ram.usable_bytes);
}

}  // namespace hmn::cli
