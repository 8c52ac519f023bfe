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

bool pipe_signal_ignored = false;

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
  pipe_signal_ignored = std::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      // The wrong way round, so that writing to it fails as writing to a closed one does.
      open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool pipe_signal_was_ignored() noexcept {
  return pipe_signal_ignored;
}

write_result write_part(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return write_result::written;
  if (error == EPIPE) return write_result::reader_gone;
  write_remark(std::string("cannot write to standard output: ").append(std::strerror(error)));
  return write_result::failed;
}

exit_code write_output(std::string_view text) {
  return write_part(text) == write_result::failed ? exit_code::failed : exit_code::done;
}

void write_report(std::string_view lines) {
  write_all(STDERR_FILENO, lines);
}

void write_remark(std::string_view message) {
  write_all(STDERR_FILENO, std::string("hmn: ").append(escape_for_text(message)).append("\n"));
}

}  // namespace hmn::cli
