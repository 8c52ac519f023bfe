// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hmn::cli {
namespace {

// Temporary file in the same folder as the result; removed on failure.
class draft {
 public:
  explicit draft(const std::string& path)
      : name_(path + ".XXXXXX"), file_(mkostemp(name_.data(), O_CLOEXEC)) {}
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft() {
    if (file_ < 0) return;
    close(file_);
    unlink(name_.c_str());
  }

  bool is_open() const { return file_ >= 0; }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return fsync(file_) == 0;
  }

  bool become(const std::string& path, bool may_replace) const {
    if (may_replace) return std::rename(name_.c_str(), path.c_str()) == 0;
    return link(name_.c_str(), path.c_str()) == 0;
  }

 private:
  std::string name_;
  int file_;
};

failure not_written(const std::string& path, int error) {
  if (error == EEXIST)
    return failed(fmt::format("\"{}\" is there already; --force replaces it", path));
  return failed(fmt::format("\"{}\": {}", path, std::strerror(error)));
}

}  // namespace

std::optional<failure> write_new_file(const std::string& path, std::string_view text,
                                      bool may_replace) {
  const draft made(path);
  const bool done = made.is_open() && made.write(text) && made.become(path, may_replace);
  return done ? std::nullopt : std::optional(not_written(path, errno));
}

}  // namespace hmn::cli
