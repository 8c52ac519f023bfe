// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/signal_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hmn::cli {
namespace {

bool make_private(int end) {
  return fcntl(end, F_SETFD, FD_CLOEXEC) == 0 && fcntl(end, F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

SignalPipe::SignalPipe() {
  if (pipe(ends_) == 0 && make_private(ends_[0]) && make_private(ends_[1])) return;
  const int error = errno;
  close_ends();
  throw std::system_error(error, std::system_category(), "no pipe for signals could be made");
}

SignalPipe::~SignalPipe() {
  close_ends();
}

void SignalPipe::close_ends() {
  for (const int end : ends_)
    if (end >= 0) close(end);
}

}  // namespace hmn::cli
