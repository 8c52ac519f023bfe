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

constexpr std::size_t longest_file = 1 << 20;

std::optional<std::string> real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path, nullptr), &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string identity(std::uint64_t device, std::uint64_t inode) {
  return fmt::format("{}:{}", device, inode);
}

constexpr int most_links = 40;

// Replaces a link by where it leads to; returns false for what is none.
bool follow(std::string& path) {
  std::array<char, 4096> target;
  const auto got = platform::read_link(path.c_str(), target);
  if (!got) return false;
  if (target[0] != '/') path.resize(path.rfind('/') + 1);  // npos: nothing remains
  path = (target[0] == '/' ? "" : path) + std::string(target.data(), got.value);
  return true;
}

// Returns what identifies a file: where it is stored, or the path that it will have. "-": standard
// output.
std::string resolved(const std::string& asked) {
  struct stat output {};
  if (asked == "-" && fstat(output_descriptor(), &output) == 0)
    return identity(static_cast<std::uint64_t>(output.st_dev), output.st_ino);
  if (const auto is = platform::status_of(path_to_open(asked).c_str()))
    return identity(is.value.device, is.value.inode);
  const auto path = link_target(asked);
  const auto slash = path.rfind('/');
  const auto folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return real_path(folder.c_str()).value_or(folder) + '/' + path.substr(slash + 1);
}

Failure unreadable(const std::string& path, const char* why) {
  return failed(fmt::format("\"{}\": {}", path, why));
}

constexpr unsigned most_names = 100;

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
class Draft {
 public:
  Draft(const std::string& path, Readers allowed) {
    const mode_t mode = allowed == Readers::owner ? 0600 : 0666;
    for (unsigned i = 0; i < most_names && !is_open(); ++i) {
      name_ = fmt::format("{}.{}-{}", path, getpid(), i);
      file_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (!is_open() && errno != EEXIST) return;
    }
    if (is_open() && allowed == Readers::everyone) fchmod(file_, 0644);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (!is_open()) return;
    close(file_);
    unlink(name_.c_str());
  }

  bool is_open() const { return file_ >= 0; }
  bool write(std::string_view text) const { return write_all(file_, text) && fsync(file_) == 0; }

  // Fails where the owner cannot be kept.
  bool take_after(const struct stat& old) const {
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
  int file_ = -1;
};

// Writes a file itself, and so all that is no regular file.
bool write_in_place(const std::string& path, bool may_replace, std::string_view text) {
  const int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (may_replace ? O_TRUNC : O_EXCL);
  const int file = open(path.c_str(), how | O_NONBLOCK, 0666);  // a pipe may have no reader
  if (file < 0) return false;
  fcntl(file, F_SETFL, 0);
  const bool is_written = write_all(file, text);
  const int error = errno;
  const bool is_closed = close(file) == 0;
  if (!is_written) errno = error;
  return is_written && is_closed;
}

// Returns the stream that a path leads to, as /dev/stdout does: what its file has already is kept.
std::optional<Stream> stream_of(const struct stat& found) {
  if (S_ISCHR(found.st_mode)) return std::nullopt;
  for (const auto each : {Stream::output, Stream::error}) {
    struct stat open {};
    const int descriptor = each == Stream::output ? output_descriptor() : STDERR_FILENO;
    if (fstat(descriptor, &open) == 0 && open.st_dev == found.st_dev && open.st_ino == found.st_ino)
      return each;
  }
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Returns whether a folder, or its file system, lets no other file take the place of one, or has no
// hard links.
bool keeps_file(int error) {
  constexpr int all[] = {EACCES, EPERM, EBUSY, EROFS, ENAMETOOLONG, EOPNOTSUPP, ENOSYS};
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

Failure not_written(const FileToWrite& to, int error) {
  if (error == EEXIST) return is_there_already(to, link_target(to.path));
  return failed_at(to.path, error == ENXIO ? "no process reads it" : std::strerror(error));
}

// Returns 0 or errno. `old`: the file that is there; none: it is not.
int write_regular(const std::string& path, std::string_view text, const struct stat* old,
                  bool may_replace, Readers allowed) {
  int error = 0;
  {
    const Draft made(path, allowed);
    if (made.is_open() && made.write(text) && (old == nullptr || made.take_after(*old)) &&
        made.become(path, may_replace))
      return 0;
    error = errno;
  }
  if (!keeps_file(error)) return error;
  return write_in_place(path, may_replace, text) ? 0 : errno;
}

}  // namespace

constinit const std::string_view path_separators = "/";

bool is_there(const std::string& path) {
  return platform::exists(path.c_str());
}

bool is_folder(const std::string& path) {
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

std::optional<std::string> why_unreadable(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return std::nullopt;
  return std::strerror(errno);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).string();
}

bool is_same_file(const std::string& path, const std::string& other) {
  return resolved(path) == resolved(other);
}

std::string link_target(std::string path) {
  for (int i = 0; i < most_links && follow(path); ++i) continue;
  return path;
}

std::string path_to_open(const std::string& path) {
  auto now = path;
  for (int i = 0; i < most_links; ++i) {
    for (const std::string folder : {"/proc/self/fd/", "/dev/fd/"})
      if (now == folder + "1") return folder + fmt::to_string(output_descriptor());
    if (!follow(now)) break;
  }
  return path;
}

std::optional<std::string> read_text_file(const std::string& path) {
  std::string text;
  return platform::read_whole(path.c_str(), text, longest_file) ? std::optional(std::move(text))
                                                                : std::nullopt;
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
  if (descriptor < 0) return unreadable(path, std::strerror(errno));
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return unreadable(path, "is no regular file");
  }
  return InputFile(path, descriptor, static_cast<std::uint64_t>(about.st_size));
}

InputFile::~InputFile() {
  if (file_ != closed) ::close(static_cast<int>(file_));
}

Expected<std::string> InputFile::beginning(std::uint64_t most) const {
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

std::optional<Failure> why_not_writable(const FileToWrite& to) {
  if (to.path == "-") return std::nullopt;
  const auto asked = path_to_open(to.path);
  const auto path = link_target(asked);
  struct stat found;
  if (stat(asked.c_str(), &found) != 0) {
    if (errno != ENOENT) return not_written(to, errno);
    const auto folder = folder_of(path);
    if (access(folder.c_str(), W_OK | X_OK) == 0) return why_wrong_name(to, path);
    if (errno == ENOENT)
      return failed_at(to.path,
                       fmt::format("{}: there is no folder \"{}\"", std::strerror(errno), folder));
    return not_written(to, errno);
  }
  if (stream_of(found)) return std::nullopt;
  if (S_ISDIR(found.st_mode)) return not_written(to, EISDIR);
  if (S_ISSOCK(found.st_mode)) return not_written(to, ENXIO);
  if (S_ISREG(found.st_mode) && !to.may_replace(path)) return is_there_already(to, path);
  if (access(asked.c_str(), W_OK) == 0 || (to.force && S_ISREG(found.st_mode))) return std::nullopt;
  return not_written(to, errno);
}

std::optional<Failure> write_file(const FileToWrite& to, std::string_view text, Readers allowed) {
  if (auto refused = why_not_writable(to)) return refused;
  if (to.path == "-") return write_to_stream(Stream::output, text);
  const auto asked = path_to_open(to.path);
  struct stat found;
  const bool is_there = stat(asked.c_str(), &found) == 0;
  if (const auto open = is_there ? stream_of(found) : std::nullopt)
    return write_to_stream(*open, text);
  const auto path = link_target(asked);
  const bool is_special = is_there && !S_ISREG(found.st_mode);
  const int error = is_special ? (write_in_place(asked, true, text) ? 0 : errno)
                               : write_regular(path, text, is_there ? &found : nullptr,
                                               to.may_replace(path), allowed);
  return error == 0 ? std::nullopt : std::optional(not_written(to, error));
}

OutputFile::OutputFile(const std::string& path)
    : file_(open(path_to_open(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)) {
  if (file_ < 0) why_ = std::strerror(errno);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(static_cast<int>(file_));
}

void OutputFile::write(std::string_view text) {
  // What is no regular file has no length: EINVAL.
  if (is_good() && !is_begun_ && ftruncate(static_cast<int>(file_), 0) != 0 && errno != EINVAL)
    why_ = std::strerror(errno);
  is_begun_ = true;
  const auto whole = text.size();
  while (is_good() && !text.empty()) {
    const auto written = ::write(static_cast<int>(file_), text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      why_ = std::strerror(errno);
  }
  if (is_good())
    length_ += whole;
  else if (text.size() < whole)
    (void)!ftruncate(static_cast<int>(file_), static_cast<off_t>(length_));
}

}  // namespace hmn::cli
