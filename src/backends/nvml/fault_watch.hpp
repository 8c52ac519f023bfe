// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Device faults (Xid). NVML reports one only to those registered when it occurred, so each device
// is watched from its first reading on; the wait has no timeout and never blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device_list.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"

namespace hmn::nvml {

class fault_watch {
 public:
  fault_watch(session& s, device_list& devices) noexcept : s_(s), devices_(devices) {}

  struct answer {
    code result = success;
    const named_symbol* from;
    std::optional<std::uint64_t> last;  // nothing: none since the watch began
  };

  // Returns faults, also those of earlier openings, and watches the device from then on.
  answer read(const topic& t, const known_device& of);
  // Collects pending events before an opening ends.
  code take_down(const topic& t);

 private:
  void begin(const topic& t, known_faults& w);
  code enter(const topic& t, known_faults& w);
  void take_down(const event_data& reported) noexcept;

  session& s_;
  device_list& devices_;
};

}  // namespace hmn::nvml
