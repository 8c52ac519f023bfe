// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hmn::cli {

// File that is written bit by bit. It is created when it is opened, but keeps its content until the
// first writing.
class output_file {
 public:
  explicit output_file(const std::string& path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  bool is_good() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  void write(std::string_view text);

 private:
  std::intptr_t file_ = -1;  // a descriptor, or a handle of Windows
  bool is_begun_ = false;
  std::string why_;
};

}  // namespace hmn::cli
