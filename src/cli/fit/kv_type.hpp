// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cli/fit/storage.hpp"

namespace hmn::cli::fit {

// Finds a type by llama.cpp's name: "f16", "q8_0".
std::optional<packing> kv_packing_of(std::string_view name) noexcept;
// Returns "f32, f16, …".
std::string kv_type_names();

}  // namespace hmn::cli::fit
