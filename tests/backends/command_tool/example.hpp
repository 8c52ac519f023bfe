// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A command that is not a vendor's.
#pragma once

#include "backends/shared/command_tool/command_source.hpp"

namespace tool_test {

inline constexpr std::string_view folders[] = {"/nowhere/", "/bin/"};
inline constexpr hmn::command_tool::ToolDescription cat{.fail = {hmn::Source::amd_smi},
                                                        .name = "cat",
                                                        .gpu = "a GPU",
                                                        .vendor = 0x1002,
                                                        .driver = "none",
                                                        .folders = folders,
                                                        .absent_message = "cat is gone",
                                                        .timeout_advice = "; wake it"};

}  // namespace tool_test
