// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hmn::cli {

enum class colour_choice { automatic, always, never };
std::optional<colour_choice> colour_choice_of(std::string_view word) noexcept;

enum class tone { plain, strong, faint, good, warning, bad };

// Returns the tone of memory that is full to this fraction.
tone tone_of_usage(double fraction) noexcept;
std::string paint(std::string_view text, tone with, bool on);

}  // namespace hmn::cli
