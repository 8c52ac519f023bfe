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
PoolUse split_use(const hypomnesis::usage& row, const Gpu& on) noexcept;

// Returns the most that processes can use of the device's memory together: what is in use, or its
// size where that is not known, a bound, or described by a file, which need not list all that is.
std::optional<std::uint64_t> most_used(const Gpu& of) noexcept;

// Returns whether its memory and its processes are those of its partitions.
bool is_divided(const hypomnesis::device& of) noexcept;

// Returns its place in a list that has partitions below their GPU.
std::tuple<std::uint32_t, bool, std::uint32_t> place_of(const hypomnesis::device& of) noexcept;

// Finds the pool that is shown as a device's memory.
std::optional<hypomnesis::pool> main_pool(const std::vector<hypomnesis::pool>& pools,
                                          std::uint32_t index);

std::vector<Gpu> gpus_of(const Session& in, const hypomnesis::snapshot& snapshot);

using GpuMap = std::map<std::uint32_t, std::shared_ptr<const Gpu>>;  // by index
GpuMap map_of(const std::vector<Gpu>& gpus);
// Returns one without a name for an index that is not listed.
std::shared_ptr<const Gpu> device_of(GpuMap& gpus, std::uint32_t index);

// Returns the name of the product in the text of pci.ids: "GeForce RTX 4090" of "AD102 [GeForce RTX
// 4090]"; empty: it is not listed.
std::string product_in(std::string_view pci_ids, std::uint32_t vendor, std::uint32_t device);

// Returns the name, or without one that of pci.ids, or the known ids: "AMD 1002:73bf", "virtio_gpu
// 1af4:1050", "panthor GPU".
std::optional<std::string> shown_name(const Gpu& of);
// Returns "GPU 0 [name]", "GPU 3 [name] in GPU 0".
std::string label_of(const Gpu& of);

// Returns the reason of a state other than ready: of an unreadable device the first value that
// failed, else what explains the subject.
std::string why_state(const hypomnesis::snapshot& from, const hypomnesis::device& of,
                      hypomnesis::part subject);

// Returns whether its memory is the host's. What firmware set aside for an APU is not: the pool
// decides, not the device.
bool lies_in_ram(const Gpu& of) noexcept;

// Returns the share of its memory that is not free; none without its total or its use.
std::optional<double> fraction_used(const Gpu& of);
std::optional<double> fraction_of(std::uint64_t part, std::uint64_t whole);

// Returns the memory that one allocation can be in: the part with the most usable, or all of it
// where it has no parts; nullptr: unknown.
const hypomnesis::pool* largest_part(const Gpu& of) noexcept;

// Memory that could be allocated on a device now.
struct FreeMemory {
  Gpu of;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> total;  // upper limit of future free memory
  bool is_estimated = false;           // the device is asleep: unused, hence all free
  std::string why;                     // reason for unknown bytes
};

// Returns why nothing is known to be usable on a device of a snapshot with pools.
std::string why_not_usable(const Gpu& of, const hypomnesis::snapshot& snapshot);

// Returns each assignable device; for one that is divided, its partitions instead.
std::vector<FreeMemory> free_memory_of_all(const Session& in, const hypomnesis::snapshot& snapshot);

// Returns so many devices of one vendor that have the memory, those with the most, in the order of
// the list; empty: there are not enough. Devices whose memory is the host's have its usable RAM
// together.
std::vector<FreeMemory> largest_free(const std::vector<FreeMemory>& all, std::uint64_t wanted,
                                     std::size_t count, std::optional<std::uint64_t> ram);
// Returns whether so many of one vendor can never have it, with this total RAM.
bool is_impossible(const std::vector<FreeMemory>& all, std::uint64_t wanted, std::size_t count,
                   std::optional<std::uint64_t> ram);

// Returns how much of the control group's limit is in use: of what is charged to it, cache that the
// kernel gives back is free.
std::optional<std::uint64_t> used_of_limit(const hypomnesis::system_memory& ram);

}  // namespace hmn::cli
