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

std::vector<hypomnesis::pool> parts_of(const std::vector<hypomnesis::pool>& pools,
                                       const hypomnesis::pool& whole) {
  std::vector<hypomnesis::pool> parts;
  for (const auto& each : part_of(pools, whole.device_index))
    if (each.kind == whole.kind && each.instance != 0) parts.push_back(each);
  return parts;
}

bool has_ids(const hypomnesis::device& device) {
  return device.vendor != vendor_id::unknown && device.pci_device;
}

// Returns the text of pci.ids, of the package hwdata; empty: it is not installed.
std::string read_pci_ids() {
  constexpr std::uint64_t longest = std::uint64_t{16} << 20U;
  std::vector<std::string> paths{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
  if (const auto given = environment_value("HMN_PCI_IDS")) paths = {*given};
  for (const auto& path : paths)
    if (auto text = read_whole(path, longest)) return *std::move(text);
  return {};
}

std::string product_of(const hypomnesis::device& of) {
  static std::mutex mutex;
  static std::map<std::pair<vendor_id, std::uint32_t>, std::string> known;
  if (!of.pci_device) return {};
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace({of.vendor, *of.pci_device});
  if (is_new) place->second = product_in(read_pci_ids(), number(of.vendor), *of.pci_device);
  return place->second;
}

// Names a card that its driver has no name for: by pci.ids, as lspci -nn does, or by its driver.
std::optional<std::string> name_by_ids(const Gpu& of) {
  const auto vendor = vendor_name(of.device.vendor);
  if (!of.product.empty())
    return fmt::format("{}{}{}", vendor.value_or(""), vendor ? " " : "", of.product);
  if (!vendor && of.driver.empty()) return std::nullopt;
  const auto maker = vendor.value_or(of.driver);
  if (has_ids(of.device))
    return fmt::format("{} {:04x}:{:04x}", maker, number(of.device.vendor), *of.device.pci_device);
  if (of.driver.empty()) return std::nullopt;
  return fmt::format("{} GPU", maker);
}

}  // namespace

std::tuple<std::uint32_t, bool, std::uint32_t> place_of(const hypomnesis::device& of) noexcept {
  return {of.parent_index.value_or(of.index), of.parent_index.has_value(), of.index};
}

bool is_divided(const hypomnesis::device& of) noexcept {
  return has(of.notes, hypomnesis::note::divided);
}

std::optional<hypomnesis::pool> main_pool(const std::vector<hypomnesis::pool>& pools,
                                          std::uint32_t index) {
  for (const auto& each : part_of(pools, index))
    if (each.is_main) return each;
  return std::nullopt;
}

std::vector<Gpu> gpus_of(const Session& in, const hypomnesis::snapshot& snapshot) {
  const auto pools = snapshot.pools();
  std::vector<Gpu> all;
  for (const auto& device : snapshot.devices()) {
    all.push_back({device, main_pool(pools, device.index)});
    if (all.back().memory) all.back().parts = parts_of(pools, *all.back().memory);
    // A simulated device's ids do not refer to this machine.
    if (in.is_simulated() || device.name) continue;
    all.back().product = product_of(device);
    all.back().driver = kernel_driver(device);
  }
  return all;
}

std::string why_state(const hypomnesis::snapshot& from, const hypomnesis::device& of,
                      hypomnesis::part subject) {
  if (of.state == hypomnesis::run_state::unreadable)
    for (const auto& each : from.diagnostics())
      if (each.device_index == of.index && !each.pid && is_fault(each)) return each.message;
  const auto why = from.reason(of.index, subject);
  return why ? why->message : std::string();
}

GpuMap map_of(const std::vector<Gpu>& gpus) {
  GpuMap all;
  for (const auto& each : gpus) all[each.device.index] = std::make_shared<const Gpu>(each);
  return all;
}

std::shared_ptr<const Gpu> device_of(GpuMap& gpus, std::uint32_t index) {
  auto& found = gpus[index];
  if (!found) {
    Gpu unlisted;
    unlisted.device.index = index;
    found = std::make_shared<const Gpu>(unlisted);
  }
  return found;
}

std::string product_in(std::string_view pci_ids, std::uint32_t vendor, std::uint32_t device) {
  const auto key = fmt::format("\t{:04x}  ", device);
  auto at = pci_ids.find(fmt::format("\n{:04x}  ", vendor));
  while (at != std::string_view::npos) {
    at = pci_ids.find('\n', at + 1);
    if (at == std::string_view::npos) break;
    auto line = pci_ids.substr(at + 1);
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

std::optional<std::string> shown_name(const Gpu& of) {
  return of.device.name ? of.device.name : name_by_ids(of);
}

std::string label_of(const Gpu& of) {
  auto label = fmt::format("GPU {}", of.device.index);
  if (const auto name = shown_name(of)) label += fmt::format(" [{}]", *name);
  if (of.device.parent_index) label += fmt::format(" in GPU {}", *of.device.parent_index);
  return label;
}

std::optional<double> fraction_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

bool lies_in_ram(const Gpu& of) noexcept {
  using hypomnesis::pool_kind;
  return of.memory && (of.memory->kind == pool_kind::host || of.memory->kind == pool_kind::unified);
}

const hypomnesis::pool* largest_part(const Gpu& of) noexcept {
  if (of.parts.empty()) return of.memory ? &*of.memory : nullptr;
  return &*std::max_element(of.parts.begin(), of.parts.end(), [](const auto& a, const auto& b) {
    return a.usable_bytes < b.usable_bytes;
  });
}

PoolUse split_use(const hypomnesis::usage& row, const Gpu& on) noexcept {
  using hypomnesis::pool_kind;
  const auto& [used, host] = std::tie(row.used_bytes, row.host_pool_bytes);
  PoolUse out{used, host, used};
  const bool includes_host = on.device.memory_kind == hypomnesis::device_memory::unified;
  if (includes_host && used && host) out.own = *used - std::min(*used, *host);
  if (!on.memory) return out;
  if (on.memory->kind == pool_kind::host && host) out.main = host;
  if (on.memory->kind == pool_kind::vram) out.main = out.own;
  return out;
}

std::optional<std::uint64_t> most_used(const Gpu& of) noexcept {
  if (!of.memory || has(of.memory->notes, hypomnesis::note::stale)) return std::nullopt;
  const auto& [used, total] = std::tie(of.memory->used_bytes, of.memory->total_bytes);
  const bool is_bound = has(of.memory->notes, hypomnesis::note::lower_bound);
  const bool is_described = of.memory->backend == hypomnesis::backend_id::simulated;
  if (used == 0u && !is_bound) return used;
  return used && !is_bound && !is_described ? used : total;
}

std::optional<double> fraction_used(const Gpu& of) {
  if (!of.memory || !of.memory->total_bytes || !of.memory->used_bytes) return std::nullopt;
  const auto& pool = *of.memory;
  if (pool.free_bytes) return fraction_of(*pool.total_bytes - *pool.free_bytes, *pool.total_bytes);
  return fraction_of(*pool.used_bytes, *pool.total_bytes);
}

namespace {

using hypomnesis::part;
using hypomnesis::pool_field;
using hypomnesis::run_state;

FreeMemory free_memory_of(Gpu of, const hypomnesis::snapshot& snapshot) {
  FreeMemory out;
  if (const auto* const memory = largest_part(of)) {
    out.total = memory->total_bytes;
    out.bytes = memory->usable_bytes;
  }
  out.is_estimated = out.bytes && of.device.state == run_state::asleep;
  if (!out.bytes) out.why = why_not_usable(of, snapshot);
  out.of = std::move(of);
  return out;
}

using DeviceChoice = std::vector<const FreeMemory*>;

DeviceChoice of_vendor(DeviceChoice all, hypomnesis::vendor_id vendor) {
  std::erase_if(all, [vendor](const auto* each) { return each->of.device.vendor != vendor; });
  return all;
}

// Leaves out those for which the RAM that they share has no room beside the ones before. What one
// has beyond the RAM is not in it.
DeviceChoice having_room(const DeviceChoice& all,
                         std::optional<std::uint64_t> FreeMemory::*capacity, std::uint64_t wanted,
                         std::optional<std::uint64_t> ram) {
  if (!ram) return all;
  DeviceChoice out;
  auto left = *ram;
  for (const auto* each : all) {
    if (lies_in_ram(each->of)) {
      const auto own = (each->*capacity).value_or(0);
      left += own - std::min(own, *ram);
      if (left < wanted) continue;
      left -= wanted;
    }
    out.push_back(each);
  }
  return out;
}

// Returns whether limits of control groups leave less than the machine has available.
bool is_limited(const hypomnesis::system_memory& ram) {
  return ram.limit_bytes && ram.usable_bytes && ram.available_bytes &&
         *ram.usable_bytes < *ram.available_bytes && *ram.usable_bytes <= *ram.limit_bytes;
}

}  // namespace

std::string why_not_usable(const Gpu& of, const hypomnesis::snapshot& snapshot) {
  return snapshot.reason(of.device.index, part::pools, number(pool_field::usable))->message;
}

std::vector<FreeMemory> free_memory_of_all(const Session& in,
                                           const hypomnesis::snapshot& snapshot) {
  std::vector<FreeMemory> all;
  for (const auto& each : gpus_of(in, snapshot))
    if (!is_divided(each.device)) all.push_back(free_memory_of(each, snapshot));
  return all;
}

std::vector<FreeMemory> largest_free(const std::vector<FreeMemory>& all, std::uint64_t wanted,
                                     std::size_t count, std::optional<std::uint64_t> ram) {
  constexpr auto bytes = &FreeMemory::bytes;
  DeviceChoice able;
  for (const auto& each : all)
    if (each.bytes && *each.bytes >= wanted) able.push_back(&each);
  std::stable_sort(able.begin(), able.end(),
                   [](const auto* a, const auto* b) { return *a->bytes > *b->bytes; });
  for (const auto* first : able) {
    auto chosen = having_room(of_vendor(able, first->of.device.vendor), bytes, wanted, ram);
    if (chosen.size() < count) continue;
    chosen.resize(count);
    std::sort(chosen.begin(), chosen.end());  // as in the list
    std::vector<FreeMemory> out;
    for (const auto* each : chosen) out.push_back(*each);
    return out;
  }
  return {};
}

bool is_impossible(const std::vector<FreeMemory>& all, std::uint64_t wanted, std::size_t count,
                   std::optional<std::uint64_t> ram) {
  constexpr auto total = &FreeMemory::total;
  DeviceChoice able;
  for (const auto& each : all)
    if (!each.total || *each.total >= wanted) able.push_back(&each);
  return std::none_of(able.begin(), able.end(), [&](const auto* each) {
    return having_room(of_vendor(able, each->of.device.vendor), total, wanted, ram).size() >= count;
  });
}

std::optional<std::uint64_t> used_of_limit(const hypomnesis::system_memory& ram) {
  // Where the machine has less left, what the limit leaves is not known.
  if (!is_limited(ram) || !ram.limit_used_bytes) return ram.limit_used_bytes;
  return std::min(*ram.limit_used_bytes, *ram.limit_bytes - *ram.usable_bytes);
}

}  // namespace hmn::cli
