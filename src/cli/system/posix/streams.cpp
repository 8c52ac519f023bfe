// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/system/posix/spawn.hpp"

namespace hmn::cli {
namespace {

// Signals of a failed write.
constexpr int write_signals[] = {SIGPIPE, SIGXFSZ};
sigset_t ignored_signals{};
int output = STDOUT_FILENO;

// Reserves standard output for hmn and the commands that it starts.
void redirect_output() noexcept {
  const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (own >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) output = own;
}

}  // namespace

// Occupies descriptors 0 to 2 where the parent closed them.
void prepare_streams() noexcept {
  sigemptyset(&ignored_signals);
  for (const int signal : write_signals)
    if (std::signal(signal, SIG_IGN) != SIG_IGN) sigaddset(&ignored_signals, signal);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      // Open in the wrong direction, so that uses fail as with a closed descriptor.
      open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  redirect_output();
}

int output_descriptor() noexcept {
  return output;
}

const sigset_t& restorable_signals() noexcept {
  return ignored_signals;
}

WriteOutcome write_stream(Stream stream, std::string_view text) {
  const int descriptor = stream == Stream::output ? output : STDERR_FILENO;
  while (!text.empty()) {
    const auto written = write(descriptor, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno == EPIPE)
      return {WriteOutcome::Reason::reader_gone, errno};
    else if (errno != EINTR)
      return {WriteOutcome::Reason::failed, errno};
  }
  return {};
}

std::string format_write_error(const WriteOutcome& outcome) {
  return std::strerror(outcome.code);
}

}  // namespace hmn::cli
