// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "platform/posix/descriptor.hpp"
#include "platform/posix/file_at.hpp"

namespace hmn::platform {
namespace {

struct close_stream {
  void operator()(DIR* stream) const noexcept { closedir(stream); }
};
using directory_stream = std::unique_ptr<DIR, close_stream>;

directory_stream stream_over(int from) noexcept {
  descriptor own(fcntl(from, F_DUPFD_CLOEXEC, 0));
  directory_stream made(own ? fdopendir(own.get()) : nullptr);
  if (made) own.release();
  return made;
}

}  // namespace

// There is no O_PATH: the folder has to be readable.
int open_base(const char* path) noexcept {
  return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int list_entries(int from, entry_visitor visit) {
  const directory_stream stream = stream_over(from);
  if (!stream) return errno;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(stream.get());
    if (entry == nullptr) return errno;
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !visit(name)) return 0;
  }
}

}  // namespace hmn::platform
