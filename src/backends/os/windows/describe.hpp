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
  enum class Found { here, not_here, unknown };

  // here: `name` is set, empty if the process has none. unknown: the list could not be read.
  Found name_of(std::uint32_t pid, std::string& name);

 private:
  struct Entry {
    std::uint32_t pid;
    std::string name;
  };

  bool take();
  [[nodiscard]] const Entry* find(std::uint32_t pid) const noexcept;

  platform::Mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t taken_ns_ = 0;
  bool has_any_ = false;
};

// Returns the last part of a path such as "C:\Tools\name.exe" or "\Device\Volume\name.exe".
std::string_view name_of_image(std::string_view path) noexcept;

// Fills those still unknown of: name and its state, start, resident set. Opens the process once.
void describe(ProcessTable& table, Usage& row);

void describe_texts(Usage& row);

}  // namespace hmn::os
