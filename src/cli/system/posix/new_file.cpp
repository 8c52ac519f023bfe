// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

  // Fails where the owner cannot be kept.
  bool take_after(const std::string& path, readers allowed) const {
    constexpr mode_t of_all = 0644;
    struct stat old;
    if (lstat(path.c_str(), &old) != 0)
      return errno == ENOENT && (allowed == readers::owner || fchmod(file_, of_all) == 0);
    struct stat own;
    if (fstat(file_, &own) != 0) return false;
    const bool is_alike = own.st_uid == old.st_uid && own.st_gid == old.st_gid;
    if (!is_alike && fchown(file_, old.st_uid, old.st_gid) != 0) return false;
    return fchmod(file_, old.st_mode & 07777) == 0;
  }

  bool become(const std::string& path, bool may_replace) const {
    if (may_replace) return std::rename(name_.c_str(), path.c_str()) == 0;
    return link(name_.c_str(), path.c_str()) == 0;
  }

 private:
  std::string name_;
  int file_;
};

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a link";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? nullptr : "a device";
}

failure not_written(const std::string& path, int error) {
  if (error == EEXIST)
    return failed(fmt::format("\"{}\" is there already; --force replaces it", path));
  return failed(fmt::format("\"{}\": {}", path, std::strerror(error)));
}

}  // namespace

std::optional<failure> why_not_new(const std::string& path, bool may_replace) {
  struct stat found;
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  if (const char* const kind = kind_of(found.st_mode))
    return failed(fmt::format("\"{}\" is {}: only a regular file is replaced", path, kind));
  return may_replace ? std::nullopt : std::optional(not_written(path, EEXIST));
}

std::optional<failure> write_new_file(const std::string& path, std::string_view text,
                                      bool may_replace, readers allowed) {
  if (auto refused = why_not_new(path, may_replace)) return refused;
  const draft made(path);
  const bool done = made.is_open() && made.write(text) && made.take_after(path, allowed) &&
                    made.become(path, may_replace);
  return done ? std::nullopt : std::optional(not_written(path, errno));
}

}  // namespace hmn::cli
