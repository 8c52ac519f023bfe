// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "cli/system/file.hpp"
#include "cli/system/streams.hpp"
#include "platform/file.hpp"

namespace hmn::cli {
namespace {

std::optional<std::string> find_real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path, nullptr), &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string format_identity(std::uint64_t device, std::uint64_t inode) {
  return fmt::format("{}:{}", device, inode);
}

constexpr int max_links = 40;

// Replaces a link by its target; returns false if the path is no link.
bool follow_link(std::string& path) {
  std::array<char, 4096> target;
  const auto length = platform::read_link(path.c_str(), target);
  if (!length) return false;
  if (target[0] != '/') path.resize(path.rfind('/') + 1);  // npos: nothing remains
  path = (target[0] == '/' ? "" : path) + std::string(target.data(), length.value);
  return true;
}

// Returns what identifies a file: where it is stored, or the path that it will have. "-": standard
// output.
std::string identify_file(const std::string& target) {
  struct stat output {};
  if (target == "-" && fstat(output_descriptor(), &output) == 0)
    return format_identity(static_cast<std::uint64_t>(output.st_dev), output.st_ino);
  if (const auto status = platform::read_status(openable_path(target).c_str()))
    return format_identity(status.value.device, status.value.inode);
  const auto path = follow_links(target);
  const auto slash = path.rfind('/');
  const auto folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return find_real_path(folder.c_str()).value_or(folder) + '/' + path.substr(slash + 1);
}

constexpr unsigned max_names = 100;

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Temporary file in the same folder as the result; removed on failure.
class TempFile {
 public:
  TempFile(const std::string& path, Readers readers) {
    const mode_t mode = readers == Readers::owner ? 0600 : 0666;
    for (unsigned i = 0; i < max_names && !is_open(); ++i) {
      name_ = fmt::format("{}.{}-{}", path, getpid(), i);
      file_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (!is_open() && errno != EEXIST) return;
    }
    if (is_open() && readers == Readers::everyone) fchmod(file_, 0644);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (!is_open()) return;
    close(file_);
    unlink(name_.c_str());
  }

  bool is_open() const { return file_ >= 0; }
  bool write(std::string_view text) const { return write_all(file_, text) && fsync(file_) == 0; }

  // Fails where the owner cannot be kept.
  bool copy_ownership(const struct stat& old) const {
    struct stat current;
    if (fstat(file_, &current) != 0) return false;
    const bool is_same_owner = current.st_uid == old.st_uid && current.st_gid == old.st_gid;
    if (!is_same_owner && fchown(file_, old.st_uid, old.st_gid) != 0) return false;
    return fchmod(file_, old.st_mode & 07777) == 0;
  }

  bool move_into_place(const std::string& path, bool may_replace) const {
    if (may_replace) return std::rename(name_.c_str(), path.c_str()) == 0;
    return link(name_.c_str(), path.c_str()) == 0;
  }

 private:
  std::string name_;
  int file_ = -1;
};

// Writes without a temporary file, as everything that is not a regular file requires.
bool write_in_place(const std::string& path, bool may_replace, std::string_view text) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (may_replace ? O_TRUNC : O_EXCL);
  const int file = open(path.c_str(), flags | O_NONBLOCK, 0666);  // a pipe may have no reader
  if (file < 0) return false;
  fcntl(file, F_SETFL, 0);
  const bool is_written = write_all(file, text);
  const int error = errno;
  const bool is_closed = close(file) == 0;
  if (!is_written) errno = error;
  return is_written && is_closed;
}

// Returns the stream that a path leads to, as /dev/stdout does: its file keeps what it already has.
std::optional<Stream> find_stream(const struct stat& status) {
  if (S_ISCHR(status.st_mode)) return std::nullopt;
  for (const auto stream : {Stream::output, Stream::error}) {
    struct stat stream_status {};
    const int descriptor = stream == Stream::output ? output_descriptor() : STDERR_FILENO;
    if (fstat(descriptor, &stream_status) == 0 && stream_status.st_dev == status.st_dev &&
        stream_status.st_ino == status.st_ino)
      return stream;
  }
  return std::nullopt;
}

std::string parent_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Returns whether a folder, or its file system, does not allow to replace a file, or has no
// hard links.
bool is_replacement_refused(int error) {
  constexpr int errors[] = {EACCES, EPERM, EBUSY, EROFS, ENAMETOOLONG, EOPNOTSUPP, ENOSYS};
  return std::find(std::begin(errors), std::end(errors), error) != std::end(errors);
}

Failure write_failure(const OutputTarget& target, int error) {
  if (error == EEXIST) return already_exists_error(target, follow_links(target.path));
  return make_file_failure(target.path,
                           error == ENXIO ? "no process reads it" : std::strerror(error));
}

// Returns 0 or errno. `old`: the file that is there; none: it is not.
int write_regular(const std::string& path, std::string_view text, const struct stat* old,
                  bool may_replace, Readers readers) {
  int error = 0;
  {
    const TempFile file(path, readers);
    if (file.is_open() && file.write(text) && (old == nullptr || file.copy_ownership(*old)) &&
        file.move_into_place(path, may_replace))
      return 0;
    error = errno;
  }
  if (!is_replacement_refused(error)) return error;
  return write_in_place(path, may_replace, text) ? 0 : errno;
}

}  // namespace

constinit const std::string_view path_separators = "/";

bool path_exists(const std::string& path) {
  return platform::exists(path.c_str());
}

bool is_folder(const std::string& path) {
  const auto status = platform::read_status(path.c_str());
  return status && status.value.is_directory;
}

std::optional<std::string> explain_unreadable(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return std::nullopt;
  return std::strerror(errno);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).string();
}

bool is_same_file(const std::string& path, const std::string& other) {
  return identify_file(path) == identify_file(other);
}

std::string follow_links(std::string path) {
  for (int i = 0; i < max_links && follow_link(path); ++i) continue;
  return path;
}

std::string openable_path(const std::string& path) {
  auto current = path;
  for (int i = 0; i < max_links; ++i) {
    for (const std::string folder : {"/proc/self/fd/", "/dev/fd/"})
      if (current == folder + "1") return folder + fmt::to_string(output_descriptor());
    if (!follow_link(current)) break;
  }
  return path;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  (void)platform::for_each_entry(path.c_str(), [&](std::string_view name) {
    if (!name.starts_with('.')) names.emplace_back(name);
    return true;
  });
  std::sort(names.begin(), names.end());
  return names;
}

Expected<InputFile> InputFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would block the caller until another process writes.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return make_file_failure(path, std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return make_file_failure(path, "is not a regular file");
  }
  return InputFile(path, descriptor, static_cast<std::uint64_t>(status.st_size));
}

InputFile::~InputFile() {
  if (file_ != closed) ::close(static_cast<int>(file_));
}

Expected<std::string> InputFile::beginning(std::uint64_t max_bytes) const {
  std::string bytes(static_cast<std::size_t>(std::min(max_bytes, size_)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto count = pread(static_cast<int>(file_), bytes.data() + done, bytes.size() - done,
                             static_cast<off_t>(done));
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (count == 0)
      return make_file_failure(path_, "became shorter while it was read");
    else if (errno != EINTR)
      return make_file_failure(path_, std::strerror(errno));
  }
  return bytes;
}

std::optional<Failure> check_writable(const OutputTarget& target) {
  if (target.path == "-") return std::nullopt;
  const auto opened_path = openable_path(target.path);
  const auto path = follow_links(opened_path);
  struct stat status;
  if (stat(opened_path.c_str(), &status) != 0) {
    if (errno != ENOENT) return write_failure(target, errno);
    const auto folder = parent_folder(path);
    if (access(folder.c_str(), W_OK | X_OK) == 0) return check_new_name(target, path);
    if (errno == ENOENT)
      return make_file_failure(
          target.path, fmt::format("{}: there is no folder \"{}\"", std::strerror(errno), folder));
    return write_failure(target, errno);
  }
  if (find_stream(status)) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return write_failure(target, EISDIR);
  if (S_ISSOCK(status.st_mode)) return write_failure(target, ENXIO);
  if (S_ISREG(status.st_mode) && !target.may_replace(path))
    return already_exists_error(target, path);
  if (access(opened_path.c_str(), W_OK) == 0 || (target.force && S_ISREG(status.st_mode)))
    return std::nullopt;
  return write_failure(target, errno);
}

std::optional<Failure> write_file(const OutputTarget& target, std::string_view text,
                                  Readers readers) {
  if (auto failure = check_writable(target)) return failure;
  if (target.path == "-") return write_to_stream(Stream::output, text);
  const auto opened_path = openable_path(target.path);
  struct stat status;
  const bool exists = stat(opened_path.c_str(), &status) == 0;
  if (const auto stream = exists ? find_stream(status) : std::nullopt)
    return write_to_stream(*stream, text);
  const auto path = follow_links(opened_path);
  const bool is_special = exists && !S_ISREG(status.st_mode);
  const int error = is_special ? (write_in_place(opened_path, true, text) ? 0 : errno)
                               : write_regular(path, text, exists ? &status : nullptr,
                                               target.may_replace(path), readers);
  return error == 0 ? std::nullopt : std::optional(write_failure(target, error));
}

OutputFile::OutputFile(const std::string& path)
    : file_(open(openable_path(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)) {
  if (file_ < 0) error_ = std::strerror(errno);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(static_cast<int>(file_));
}

void OutputFile::write(std::string_view text) {
  // Only regular files have a length; others give EINVAL.
  if (is_good() && !has_written_ && ftruncate(static_cast<int>(file_), 0) != 0 && errno != EINVAL)
    error_ = std::strerror(errno);
  has_written_ = true;
  const auto text_size = text.size();
  while (is_good() && !text.empty()) {
    const auto written = ::write(static_cast<int>(file_), text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = std::strerror(errno);
  }
  if (is_good())
    length_ += text_size;
  else if (text.size() < text_size)
    (void)!ftruncate(static_cast<int>(file_), static_cast<off_t>(length_));
}

}  // namespace hmn::cli
