// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "cli/expected.hpp"

namespace hmn::cli {

// Regular file, open for reading.
class input_file {
 public:
  static expected<input_file> open(const std::string& path);
  input_file(input_file&& other) noexcept;
  input_file& operator=(input_file&&) = delete;
  ~input_file();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Reads the first `most` bytes, or the whole of a shorter file.
  expected<std::string> beginning(std::uint64_t most) const;

 private:
  static constexpr std::intptr_t closed = -1;

  input_file(std::string path, std::intptr_t file, std::uint64_t size)
      : path_(std::move(path)), file_(file), size_(size) {}

  std::string path_;
  std::intptr_t file_;  // a descriptor, or a handle of Windows
  std::uint64_t size_;
};

// Reads a file of at most `most` bytes.
expected<std::string> read_whole(const std::string& path, std::uint64_t most);

}  // namespace hmn::cli
