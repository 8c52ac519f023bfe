// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/usage.hpp"
#include "platform/mutex.hpp"

namespace hmn::os {

// Names of all processes, for rows whose process cannot be opened.
class ProcessTable {
 public:
  enum class LookupResult { listed, not_listed, unknown };

  // listed: `name` is set, empty if the process has none. unknown: the list could not be read.
  LookupResult find_name(std::uint32_t pid, std::string& name);

 private:
  struct Entry {
    std::uint32_t pid;
    std::string name;
  };

  bool refresh();
  [[nodiscard]] const Entry* find(std::uint32_t pid) const noexcept;

  platform::Mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t read_ns_ = 0;
  bool has_entries_ = false;
};

// Returns the last part of a path such as "C:\Tools\name.exe" or "\Device\Volume\name.exe".
std::string_view extract_file_name(std::string_view path) noexcept;

// Fills name and its state, start and resident set where they are still unknown. Opens the process
// once.
void describe(ProcessTable& table, Usage& row);

void describe_texts(Usage& row);

}  // namespace hmn::os
