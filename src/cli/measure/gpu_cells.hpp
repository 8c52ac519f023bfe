// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cli/measure/gpu_status.hpp"
#include "cli/text/table.hpp"
#include "cli/text/terminal.hpp"

// Texts of one GPU's row. A missing value has its sign, and is empty next to the word of a device
// that cannot be read.
namespace hmn::cli {

enum class spacing { roomy, compact };  // "61 °C", "61" below a title with the unit

// Returns the name without that of the vendor; of a partition what its GPU's name does not have:
// "GeForce RTX 4090", "MIG 3g.20gb". "?": it has none.
std::string short_name(const gpu& of, const gpu* parent = nullptr);

// Returns "83 %", or the word of a device that cannot be read: "asleep".
table::cell load_cell(const gpu_status& of, spacing with);
// Returns "14.1 / 24.0 GiB".
std::string amount_text(std::string_view mark, std::optional<std::uint64_t> used,
                        std::optional<std::uint64_t> total, spacing with,
                        std::string_view sign_of_used = "?");
table::cell memory_cell(const gpu_status& of, spacing with);
table::cell temperature_cell(const gpu_status& of, spacing with, const style& as);
// Returns "287 / 450 W": the draw and its limit.
table::cell power_cell(const gpu_status& of, spacing with);

enum class shown_users { all, first, sum };  // all, at least the first one, at least their sum
// Returns "alice 12.8, bob 0.3": users and GiB. Shorter forms add up the last ones.
table::cell users_cell(const gpu_status& of, shown_users which, const style& as);

}  // namespace hmn::cli
