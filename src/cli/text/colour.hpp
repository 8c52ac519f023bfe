// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

enum class colour_choice { automatic, always, never };
constexpr std::string_view colour_choice_words[] = {"auto", "always", "never"};

enum class tone { plain, strong, faint, good, warning, bad };

// Returns the tone of memory that is full to this fraction.
tone tone_of_usage(double fraction) noexcept;
std::string paint(std::string_view text, tone with, bool on);

}  // namespace hmn::cli
