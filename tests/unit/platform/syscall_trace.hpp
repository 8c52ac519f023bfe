// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace test {

// The numbers of the system calls that body makes, in a traced child after prepare; nothing where
// tracing is refused (an emulator, a sandbox).
std::optional<std::vector<long>> trace_system_calls(const std::function<void()>& prepare,
                                                    const std::function<void()>& body);

}  // namespace test
