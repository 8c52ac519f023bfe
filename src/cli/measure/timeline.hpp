// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/run_sample.hpp"

namespace hmn::cli {

enum class timeline_form { json_lines, csv };

// Endings of the names of files, which choose the form.
inline constexpr std::string_view timeline_suffixes[] = {".jsonl", ".ndjson", ".json", ".csv"};
expected<timeline_form> timeline_form_of(std::string_view path);

// Takes in `indexes` the devices in the samples' order.
std::string timeline_header(timeline_form form, const std::vector<std::uint32_t>& indexes);
std::string timeline_line(timeline_form form, const run_sample& sample,
                          const std::vector<std::uint32_t>& indexes);

}  // namespace hmn::cli
