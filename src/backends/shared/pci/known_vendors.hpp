// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace hmn::pci {

// Which vendors of GPUs have functions on the bus, by the kernel's list of all functions: the time
// of the list in nanoseconds, with a bit for each vendor in its lowest; 0: never read. A line of it
// takes the kernel a microsecond: sources that search at the same time read it once.
using known_vendors = std::atomic<std::uint64_t>;

inline constexpr std::uint64_t longest_age_ns = 100'000'000;

// Pure. Returns the bits of the vendors in the kernel's list, whose lines are such as
// "0100\t10de2684\t…"; all where it is not one.
std::uint64_t vendors_in(std::string_view list);

// Returns false where the list is of the machine of sys_root and has none of the vendor.
bool may_have(std::uint32_t vendor, std::string_view proc_root, std::string_view sys_root,
              known_vendors& known);

}  // namespace hmn::pci
