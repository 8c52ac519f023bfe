// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hmn::cli {
namespace {

failure unreadable(const std::string& path, const char* why) {
  return failed(fmt::format("\"{}\": {}", path, why));
}

}  // namespace

expected<input_file> input_file::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would block the caller until another process writes.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return unreadable(path, std::strerror(errno));
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return unreadable(path, "is no regular file");
  }
  return input_file(path, descriptor, static_cast<std::uint64_t>(about.st_size));
}

input_file::~input_file() {
  if (file_ != closed) ::close(static_cast<int>(file_));
}

expected<std::string> input_file::beginning(std::uint64_t most) const {
  std::string bytes(static_cast<std::size_t>(std::min(most, size_)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = pread(static_cast<int>(file_), bytes.data() + done, bytes.size() - done,
                           static_cast<off_t>(done));
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got == 0)
      return unreadable(path_, "became shorter while it was read");
    else if (errno != EINTR)
      return unreadable(path_, std::strerror(errno));
  }
  return bytes;
}

}  // namespace hmn::cli
