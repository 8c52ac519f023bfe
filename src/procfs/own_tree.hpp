// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hmn::procfs {

// Returns why the pids of a proc tree are not those of the caller: it is of another PID namespace.
// Returns none if they are, for copied files that have a plain folder "self", and on systems
// without PID namespaces.
std::optional<std::string> why_foreign(const std::string& proc_root);

}  // namespace hmn::procfs
