// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "cli/fit/answer.hpp"
#include "cli/text/colour.hpp"

namespace hmn::cli::fit {

std::string_view verdict_word(verdict is) noexcept;  // for JSON: "fits", "partly"
tone tone_of(verdict is) noexcept;
// Formats "fits", "fits with 20 of 32 layers on the GPU", "does not fit", "unknown: asleep".
std::string verdict_text(const answer& all, const device_answer& on);
std::string together_text(const answer& all);
std::string ram_verdict_text(const answer& all);

}  // namespace hmn::cli::fit
