// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// A file that is opened before a command is started, so that what cannot be written is told then.
class late_file {
 public:
  explicit late_file(std::string path);  // "-": standard output
  late_file(const late_file&) = delete;
  late_file& operator=(const late_file&) = delete;
  ~late_file();

  bool is_good() const { return error_ == 0; }
  failure why() const;
  void write(std::string_view text);

 private:
  std::string path_;
  int file_ = -1;
  int error_ = 0;
};

}  // namespace hmn::cli
