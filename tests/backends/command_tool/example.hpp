// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A command that no vendor has.
#pragma once

#include "backends/shared/command_tool/command_source.hpp"

namespace tool_test {

inline constexpr std::string_view folders[] = {"/nowhere/", "/bin/"};
inline constexpr hmn::command_tool::Description cat{.fail = {hmn::Source::amd_smi},
                                                    .name = "cat",
                                                    .gpu = "a GPU",
                                                    .vendor = 0x1002,
                                                    .driver = "none",
                                                    .folders = folders,
                                                    .absent = "cat is gone",
                                                    .when_late = "; wake it"};

}  // namespace tool_test
