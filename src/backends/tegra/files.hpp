// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Access to files of sysfs and of the device tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/backend.hpp"
#include "platform/errno_or.hpp"

namespace hmn::tegra {

// Returns the first line of <folder>/<name>, up to a NUL, or errno.
platform::errno_or<std::string> read_line(std::string_view folder, std::string_view name);
// EINVAL if the line is no whole number.
platform::errno_or<std::int64_t> read_number(std::string_view folder, std::string_view name);
// Returns the last part of a link's target; empty: no link.
std::string link_name(std::string_view folder, std::string_view name);

// Whether one text of a NUL-separated list has this prefix: a property "compatible".
bool has_text_from(std::string_view list, std::string_view beginning) noexcept;
std::string read_property(std::string_view folder, std::string_view name);

inline constexpr failure_of fail{source::tegra};

// Whether the error is temporary and proves nothing: the file may be readable next time.
bool may_pass(int error) noexcept;

// Reports a diagnostic of the only GPU.
void diagnose(reading& r, const failure& why, std::uint32_t about, std::uint32_t field);

failure unreadable(int error, std::string_view folder, std::string_view name);

}  // namespace hmn::tegra
