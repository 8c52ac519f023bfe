// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/dialect.hpp"

#include <cerrno>

#include "model/scan.hpp"
#include "model/sort.hpp"
#include "platform/file.hpp"

namespace hmn::intel {

std::vector<std::uint32_t> numbers_in(const std::string& folder, std::string_view prefix,
                                      int& error) {
  std::vector<std::uint32_t> found;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    const auto number = scan::decimal(name.substr(prefix.size()));
    if (number && *number < 64) found.push_back(static_cast<std::uint32_t>(*number));
    return true;
  });
  if (listed != 0 && listed != ENOENT) error = listed;
  sort_ascending(found);
  return found;
}

}  // namespace hmn::intel
