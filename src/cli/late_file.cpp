// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/late_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/output.hpp"

namespace hmn::cli {

late_file::late_file(std::string path) : path_(std::move(path)) {
  if (path_ == "-") return;
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  error_ = file_ < 0 ? errno : 0;
}

late_file::~late_file() {
  if (file_ >= 0) close(file_);
}

failure late_file::why() const {
  return failed(fmt::format("\"{}\": {}", path_, std::strerror(error_)));
}

void late_file::write(std::string_view text) {
  if (path_ == "-") {
    if (write_part(text) == write_result::failed) error_ = EIO;
    return;
  }
  while (error_ == 0 && !text.empty()) {
    const auto written = ::write(file_, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
}

}  // namespace hmn::cli
