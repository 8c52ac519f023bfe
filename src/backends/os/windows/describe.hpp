// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/usage.hpp"
#include "platform/mutex.hpp"

namespace hmn::os {

// Names of all processes in one snapshot: for those that cannot be opened. It serves the rows of a
// whole list.
class process_table {
 public:
  enum class found { here, not_here, unknown };

  // here: `name` is it, empty for one without. unknown: the system gave no snapshot.
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

// The last part of "C:\...\name.exe" or "\Device\...\name.exe".
std::string_view name_of_image(std::string_view path) noexcept;

// Fills what is still unknown of a row: name and its state, start, resident set. One opening of the
// process.
void describe(process_table& table, usage& row);

// The same for command.
void describe_texts(usage& row);

}  // namespace hmn::os
