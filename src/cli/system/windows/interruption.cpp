// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/interruption.hpp"

#include "cli/system/windows/control_events.hpp"

namespace hmn::cli {

struct interruption::state {
  explicit state(std::function<void()> stop)
      : events([stop = std::move(stop), is_first = true](control_event) mutable {
          // Exit at once: a write may be blocked.
          if (!is_first) end_interrupted();
          is_first = false;
          stop();
        }) {}

  control_events events;
};

interruption::interruption(std::function<void()> stop)
    : state_(std::make_unique<state>(std::move(stop))) {}

interruption::~interruption() = default;

}  // namespace hmn::cli
