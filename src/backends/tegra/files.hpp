// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Access to files of sysfs and of the device tree.
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/file.hpp"
#include "source/interface.hpp"

namespace hmn::tegra {

// Same as sysfs::read_signed; EINVAL if the line is no whole number.
platform::errno_or<std::int64_t> read_number(std::string_view folder, std::string_view name);

// Whether one text of a NUL-separated list has this prefix.
bool has_text_from(std::string_view list, std::string_view beginning) noexcept;

inline constexpr failure_of fail{source::tegra};

// Whether the error is temporary and proves nothing: the file may be readable next time.
bool may_pass(int error) noexcept;

// Reports a diagnostic of the only GPU.
void diagnose(reading& r, const failure& why, std::uint32_t about, std::uint32_t field);

failure unreadable(int error, std::string_view folder, std::string_view name);

}  // namespace hmn::tegra
