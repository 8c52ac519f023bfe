// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "cli/escape.hpp"

namespace hmn::cli {
namespace {

int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = write(descriptor, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

void prepare_output() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      // The wrong way round, so that writing to it fails as writing to a closed one does.
      open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

exit_code write_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return exit_code::done;
  write_remark(std::string("cannot write to standard output: ").append(std::strerror(error)));
  return exit_code::failed;
}

void write_remark(std::string_view message) {
  write_all(STDERR_FILENO, std::string("hmn: ").append(escape_for_text(message)).append("\n"));
}

}  // namespace hmn::cli
