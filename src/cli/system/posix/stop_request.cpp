// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/stop_request.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/system/posix/signal_pipe.hpp"
#include "cli/system/posix/wait_time.hpp"

namespace hmn::cli {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};
int requested = -1;

void request(int) {
  const int error = errno;
  const char one = 1;
  [[maybe_unused]] const auto written = write(requested, &one, sizeof one);
  errno = error;
}

}  // namespace

struct stop_request::state {
  signal_pipe requests;
  struct sigaction before[3];
};

stop_request::stop_request() : state_(std::make_unique<state>()) {
  requested = state_->requests.write_end();
  struct sigaction how {};
  how.sa_handler = request;
  how.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int i = 0; i < 3; ++i) {
    sigaction(ending[i], nullptr, &state_->before[i]);
    if (state_->before[i].sa_handler != SIG_IGN) sigaction(ending[i], &how, nullptr);  // nohup
  }
}

stop_request::~stop_request() {
  for (int i = 0; i < 3; ++i) sigaction(ending[i], &state_->before[i], nullptr);
  requested = -1;
}

bool stop_request::wait_until(clock::time_point time) {
  for (;;) {
    pollfd waiting{state_->requests.read_end(), POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds_until(time));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && clock::now() >= time) return false;
  }
}

}  // namespace hmn::cli
