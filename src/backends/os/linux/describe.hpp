// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/function_ref.hpp"
#include "model/usage.hpp"
#include "platform/file.hpp"
#include "procfs/boot.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {

// Describes processes one after the other, with the folder of all of them open for so long.
class describer {
 public:
  describer(const std::string& root, std::size_t page_size, procfs::boot_time& boot,
            procfs::boot_id& id);

  // Fills those still unknown of: name and its state, start, owner, resident set, from one reading
  // of stat and the owner of the folder; then command and container, from cmdline and cgroup,
  // unless `recall` has done so.
  void describe(usage& row, function_ref<bool(usage&)> recall);

 private:
  void identify(procfs::proc_path& path, usage& row);
  void name(procfs::proc_path& path, const procfs::stat& s, usage& row);
  void add_texts(procfs::proc_path& path, usage& row);
  std::string_view read(procfs::proc_path& path, std::string_view file, std::span<char> buffer);

  const std::string& root_;
  const std::size_t page_size_;
  procfs::boot_time& boot_;
  procfs::boot_id& id_;
  const platform::errno_or<platform::directory> proc_;
  // Text of the last cgroup file and what it says: processes of one group have the same.
  std::string groups_;
  std::string container_;
};

}  // namespace hmn::os
