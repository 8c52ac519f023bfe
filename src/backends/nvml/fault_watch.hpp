// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Faults of devices (Xid). NVML tells one only to who had registered for it when it came, so that a
// device is watched from its first reading on; waiting for none keeps nobody waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"

namespace hmn::nvml {

class fault_watch {
 public:
  explicit fault_watch(session& s) noexcept : s_(s) {}

  struct answer {
    code result = success;
    const char* from = "";
    std::optional<std::uint64_t> last;  // nothing: none came since the device is watched
  };

  // What came, over re-openings as well; from here on the device is watched.
  answer read(const topic& t, const known_device& of);
  // Takes down what has come, before an opening ends.
  code take_down(const topic& t);

 private:
  struct watched {
    slot number = 0;
    handle h = nullptr;
    std::uint64_t session = 0;  // the opening that registered it
    code result = success;
    const char* from = "";
    std::optional<std::uint64_t> last;
  };

  watched& entry_of(const known_device& of);
  void begin(const topic& t, watched& w, bool is_partition);
  code enter(const topic& t, watched& w);
  void take_down(const event_data& told) noexcept;

  session& s_;
  std::vector<watched> all_;
};

}  // namespace hmn::nvml
