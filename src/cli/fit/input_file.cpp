// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hmn::cli::fit {
namespace {

failure unreadable(const std::string& path, const char* why) {
  return failed(fmt::format("\"{}\": {}", path, why));
}

}  // namespace

expected<input_file> input_file::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would hold the caller until somebody writes.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return unreadable(path, std::strerror(errno));
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return unreadable(path, "is no regular file");
  }
  return input_file(path, descriptor, static_cast<std::uint64_t>(about.st_size));
}

input_file::input_file(input_file&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

expected<std::string> input_file::beginning(std::uint64_t most) const {
  std::string bytes(static_cast<std::size_t>(std::min(most, size_)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got =
        pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got == 0)
      return unreadable(path_, "became shorter while it was read");
    else if (errno != EINTR)
      return unreadable(path_, std::strerror(errno));
  }
  return bytes;
}

expected<std::string> read_whole(const std::string& path, std::uint64_t most) {
  const auto file = input_file::open(path);
  if (!file) return file.why();
  if (file->size() > most)
    return failed(fmt::format("\"{}\": {} bytes: expected at most {}", path, file->size(), most));
  return file->beginning(most);
}

bool is_folder(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool is_there(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

}  // namespace hmn::cli::fit
