// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/system/process.hpp"

namespace hmn::cli {

// Workloads of the processes of a machine that is read from a file: of a recording, or of a folder
// with a copied proc tree. A machine that is only described has none.
class RecordedWorkloads {
 public:
  explicit RecordedWorkloads(const std::string& machine);

  // Returns none for a process whose control groups the file does not have.
  std::optional<procfs::Workload> find(std::uint32_t pid) const;

 private:
  std::string proc_;                                 // of a folder
  std::map<std::string, std::string> text_by_path_;  // of a recording: "/proc/<pid>/cgroup"
};

}  // namespace hmn::cli
