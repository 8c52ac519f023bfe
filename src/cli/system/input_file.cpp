// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/input_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace hmn::cli {

input_file::input_file(input_file&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, closed)),
      size_(other.size_) {}

expected<std::string> read_whole(const std::string& path, std::uint64_t most) {
  const auto file = input_file::open(path);
  if (!file) return file.why();
  if (file->size() > most)
    return failed(fmt::format("\"{}\": {} bytes: expected at most {}", path, file->size(), most));
  return file->beginning(most);
}

}  // namespace hmn::cli
