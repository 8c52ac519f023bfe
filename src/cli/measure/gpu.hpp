// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/measure/session.hpp"

namespace hmn::cli {

// Device and the pool that allocations come from.
struct Gpu {
  hypomnesis::device device{};
  std::optional<hypomnesis::pool> memory;
  std::string product{};                  // in pci.ids, of a device whose driver has no name for it
  std::string driver{};                   // kernel driver, of a device that nothing else names
  std::vector<hypomnesis::pool> parts{};  // of its memory, in a snapshot with parts
};

// What a process uses of a device, by pool.
struct PoolUse {
  std::optional<std::uint64_t> own;   // of the device's memory
  std::optional<std::uint64_t> host;  // of host RAM mapped for the device
  std::optional<std::uint64_t> main;  // of the pool that is shown as the device's memory
};

// The row of a device whose memory is the host's (an APU) counts host RAM in used_bytes, too.
PoolUse split_use(const hypomnesis::usage& row, const Gpu& gpu) noexcept;

// Upper limit of what all processes together use of a device's memory: what is in use, or its
// size where that is not known, a bound, or described by a file, which need not list all that is.
std::optional<std::uint64_t> max_used_bytes(const Gpu& gpu) noexcept;

// Returns whether its memory and its processes are those of its partitions.
bool is_divided(const hypomnesis::device& device) noexcept;

// Returns a key that sorts partitions below their GPU.
std::tuple<std::uint32_t, bool, std::uint32_t> make_device_sort_key(
    const hypomnesis::device& device) noexcept;

// Finds the pool that is displayed as a device's memory.
std::optional<hypomnesis::pool> find_main_pool(const std::vector<hypomnesis::pool>& pools,
                                               std::uint32_t index);

std::vector<Gpu> list_gpus(const Session& session, const hypomnesis::snapshot& snapshot);

using GpuMap = std::map<std::uint32_t, std::shared_ptr<const Gpu>>;  // by index
GpuMap make_gpu_map(const std::vector<Gpu>& gpus);
// Adds a GPU without a name for an index that is not listed.
std::shared_ptr<const Gpu> find_or_add_gpu(GpuMap& gpus, std::uint32_t index);

// Returns the name of the product in the text of pci.ids: "GeForce RTX 4090" of "AD102 [GeForce RTX
// 4090]"; empty: it is not listed.
std::string find_product_name(std::string_view pci_ids, std::uint32_t vendor, std::uint32_t device);

// Returns the name, or without one that of pci.ids, or the known ids: "AMD 1002:73bf", "virtio_gpu
// 1af4:1050", "panthor GPU".
std::optional<std::string> get_display_name(const Gpu& gpu);
// Returns "GPU 0 [name]", "GPU 3 [name] in GPU 0".
std::string format_gpu_label(const Gpu& gpu);

// Returns the reason of a state other than ready: of an unreadable device the first value that
// failed, else what explains the subject.
std::string explain_state(const hypomnesis::snapshot& snapshot, const hypomnesis::device& device,
                          hypomnesis::part subject);

// Returns whether its memory is the host's. What firmware set aside for an APU is not: the pool
// decides, not the device.
bool uses_host_memory(const Gpu& gpu) noexcept;

// Returns the share of its memory that is not free; none without its total or its use.
std::optional<double> compute_used_fraction(const Gpu& gpu);
std::optional<double> compute_fraction(std::uint64_t part, std::uint64_t whole);

// Returns the memory that one allocation can be in: the part with the most usable, or all of it
// where it has no parts; nullptr: unknown.
const hypomnesis::pool* find_largest_part(const Gpu& gpu) noexcept;

// Memory that could be allocated on a device now.
struct FreeMemory {
  Gpu gpu;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> total;  // upper limit of future free memory
  bool is_estimated = false;           // the device is asleep: unused, hence all free
  std::string reason;                  // reason for unknown bytes
};

// Returns the reason for a missing usable value of a device, from a snapshot with pools.
std::string explain_unusable_memory(const Gpu& gpu, const hypomnesis::snapshot& snapshot);

// Returns each assignable device; for one that is divided, its partitions instead.
std::vector<FreeMemory> list_free_memory(const Session& session,
                                         const hypomnesis::snapshot& snapshot);

// Returns the `count` devices of one vendor with the most memory, each at least `min_bytes`, in the
// order of the list; empty: there are not enough. Devices whose memory is the host's share its
// usable RAM.
std::vector<FreeMemory> find_largest_free(const std::vector<FreeMemory>& all,
                                          std::uint64_t min_bytes, std::size_t count,
                                          std::optional<std::uint64_t> ram);
// Returns whether so many of one vendor can never have it, with this total RAM.
bool can_never_fit(const std::vector<FreeMemory>& all, std::uint64_t min_bytes, std::size_t count,
                   std::optional<std::uint64_t> ram);

// Returns how much of the control group's limit is in use: of what is charged to it, cache that the
// kernel gives back is free.
std::optional<std::uint64_t> compute_limit_used_bytes(const hypomnesis::system_memory& ram);

}  // namespace hmn::cli
