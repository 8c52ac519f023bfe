// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/late_file.hpp"

#include <fmt/format.h>

#include "cli/system/streams.hpp"

namespace hmn::cli {

late_file::late_file(std::string path) : path_(std::move(path)) {
  if (path_ != "-") file_.emplace(path_);
}

failure late_file::why() const {
  return failed(file_ ? fmt::format("\"{}\": {}", path_, file_->why()) : why_);
}

void late_file::write(std::string_view text) {
  if (file_) return file_->write(text);
  const auto end = write_stream(stream::output, text);
  if (end.how == write_end::reason::failed)
    why_ = "cannot write to standard output: " + message_of(end);
}

}  // namespace hmn::cli
