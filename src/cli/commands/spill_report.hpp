// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/text/json.hpp"

namespace hmn::cli {

// "+12.4s": a moment of a run.
std::string moment_text(std::uint64_t ms);

// Lines behind "hmn spill" or "hmn watch".
std::string spill_text(std::string_view who, const hmn_spill_info& of, bool ascii_only);
// docs/schema/spill.schema.json; unknown is null.
void add_spill_json(const hmn_spill_info& of, const std::vector<hmn_episode>& episodes,
                    json_object& to);

}  // namespace hmn::cli
