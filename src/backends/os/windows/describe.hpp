// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/usage.hpp"
#include "platform/mutex.hpp"

namespace hmn::os {

// Snapshot of all process names, for those that cannot be opened. Used for the rows of a whole
// list.
class process_table {
 public:
  enum class found { here, not_here, unknown };

  // here: `name` is set, empty if it has none. unknown: no snapshot.
  found name_of(std::uint32_t pid, std::string& name);

 private:
  struct entry {
    std::uint32_t pid;
    std::string name;
  };

  bool take();
  [[nodiscard]] const entry* find(std::uint32_t pid) const noexcept;

  platform::mutex mutex_;
  std::vector<entry> entries_;
  std::uint64_t taken_ns_ = 0;
  bool has_any_ = false;
};

// Returns the last part of "C:\...
// ame.exe" or "\Device\...
// ame.exe".
std::string_view name_of_image(std::string_view path) noexcept;

// Fills those still unknown of: name and its state, start, resident set. Opens the process once.
void describe(process_table& table, usage& row);

// Fills the command.
void describe_texts(usage& row);

}  // namespace hmn::os
