// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/stop_request.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace hmn::cli {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};
int requested = -1;

void request(int) {
  const int error = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(requested, &one, sizeof one);
  errno = error;
}

}  // namespace

stop_request::stop_request() {
  requested = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction how {};
  how.sa_handler = request;
  how.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int i = 0; i < 3; ++i) {
    sigaction(ending[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(ending[i], &how, nullptr);  // nohup
  }
}

stop_request::~stop_request() {
  for (int i = 0; i < 3; ++i) sigaction(ending[i], &before_[i], nullptr);
  close(requested);
  requested = -1;
}

bool stop_request::wait_until(clock::time_point time) {
  for (;;) {
    const auto now = clock::now();
    const auto left = time > now ? std::chrono::nanoseconds(time - now).count() : 0;
    const timespec limit{static_cast<time_t>(left / 1'000'000'000),
                         static_cast<long>(left % 1'000'000'000)};
    pollfd waiting{requested, POLLIN, 0};
    const int ready = ppoll(&waiting, 1, &limit, nullptr);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return true;
  }
}

}  // namespace hmn::cli
