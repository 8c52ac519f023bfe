// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hmn::cli {

// What the command looks up by itself: a user's name may come over a network, which a library must
// not wait for.

// By the users of this system. uid: as the library told it; the number where it has no name.
std::optional<std::string> process_user(std::uint32_t pid, std::optional<std::uint32_t> uid);

// What the process calls itself in its PID namespace, in the proc tree that the library reads too.
// Nothing where a system has no such namespaces.
std::optional<std::uint32_t> namespace_pid(std::uint32_t pid);

}  // namespace hmn::cli
