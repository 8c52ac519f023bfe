// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/failure.hpp"
#include "procfs/path.hpp"

namespace hmn::os {

enum class life {
  running,
  exited,    // a zombie
  headless,  // its first thread has ended, others go on
  kernel_thread,
  gone,
  no_tree,  // there is no proc tree at all
  unknown,
};

life life_of(std::string_view root, std::string_view who);

// Why a file of a proc tree could not be read, ENOENT and ESRCH aside.
failure unreadable(int error, const procfs::proc_path& path);
failure nonsense(const procfs::proc_path& path, std::string_view what);

// Why <root>/<who> shows no memory, or lacks a file. `error`: errno of reading `path`, 0 when it
// was read and had nothing.
failure why_no_memory(std::string_view root, std::string_view who, const procfs::proc_path& path,
                      int error);

// "123/task/456": a thread that goes on, of a process whose first thread has ended.
std::optional<std::string> living_thread(std::string_view root, std::string_view who);

}  // namespace hmn::os
