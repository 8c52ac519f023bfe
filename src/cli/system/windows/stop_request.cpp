// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/stop_request.hpp"

#include "cli/system/windows/control_events.hpp"
#include "cli/system/windows/wait_time.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::cli {

struct stop_request::state {
  state()
      : requested(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
        events([this, is_first = true](control_event) mutable {
          if (!is_first) end_interrupted();
          is_first = false;
          SetEvent(requested.get());
        }) {}

  platform::handle requested;
  control_events events;
};

stop_request::stop_request() : state_(std::make_unique<state>()) {}
stop_request::~stop_request() = default;

bool stop_request::wait_until(clock::time_point time) {
  return wait_for(state_->requested.get(), time);
}

}  // namespace hmn::cli
