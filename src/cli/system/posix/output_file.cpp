// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/system/file.hpp"

namespace hmn::cli {

output_file::output_file(const std::string& path)
    : file_(open(path_to_open(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)) {
  if (file_ < 0) why_ = std::strerror(errno);
}

output_file::~output_file() {
  if (file_ >= 0) close(static_cast<int>(file_));
}

void output_file::write(std::string_view text) {
  // What is no regular file has no length: EINVAL.
  if (is_good() && !is_begun_ && ftruncate(static_cast<int>(file_), 0) != 0 && errno != EINVAL)
    why_ = std::strerror(errno);
  is_begun_ = true;
  while (is_good() && !text.empty()) {
    const auto written = ::write(static_cast<int>(file_), text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      why_ = std::strerror(errno);
  }
}

}  // namespace hmn::cli
