// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/late_file.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"

namespace hmn::cli {

late_file::late_file(std::string path) : path_(std::move(path)) {
  if (path_ != "-") file_.emplace(path_);
}

failure late_file::why() const {
  return failed(fmt::format("\"{}\": {}", path_, file_ ? file_->why() : "Input/output error"));
}

void late_file::write(std::string_view text) {
  if (file_)
    file_->write(text);
  else if (write_part(text) == write_result::failed)
    is_good_ = false;
}

}  // namespace hmn::cli
