// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/backend.hpp"

namespace hmn {

// What one reading asks of a source.
struct plan {
  bool list = false;
  bool pools = false;
  pool_kind pool = pool_kind::main;  // the one that is wanted, of a direct reading
  bool self = false;
  bool processes = false;
  bool metrics = false;
  bool slow = false;  // also the slow ones among the metrics
  std::optional<source> describe;
  std::uint32_t telemetry = 0;  // telemetry_field bits
  std::uint32_t pid = 0;        // this process alone, by process(); 0: none
  std::uint32_t own_pid = 0;
  std::optional<slot> only;  // one device; all otherwise
  bool wants_trace = false;
};

// One part of a device: the last answer and, when the last try failed, why.
template <class T>
struct part {
  T value{};
  std::uint64_t taken_ns = 0;  // when the value was had; 0: never
  std::uint64_t tried_ns = 0;
  std::optional<failure> why;
  bool stands = false;  // the value, though the last try failed: stale

  void succeeded(std::uint64_t now) {
    taken_ns = tried_ns = now;
    why.reset();
  }
  void failed(std::uint64_t now, failure f, bool value_stands) {
    tried_ns = now;
    stands = value_stands;
    why = std::move(f);
  }
  // The value of the last try, not of an earlier one.
  [[nodiscard]] bool is_current() const noexcept { return taken_ns != 0 && !why; }
};

struct device_reply {
  device identity;
  bool listed = false;  // in the last list
  part<hmn::pools> pools;
  part<hmn::telemetry> telemetry;
  std::uint32_t telemetry_asked = 0;
  part<usage> self;
  part<usage> process;  // of plan.pid
  part<std::vector<usage>> processes;
  part<std::vector<metric>> metrics;
  bool slow_asked = false;
};

// From when on an answer belongs to the reading that looks at it, and whether that reading came to
// its end in time.
struct moment {
  std::uint64_t since = 0;
  bool late = false;
};

// What a source has answered so far.
struct reply {
  std::vector<device_reply> devices;
  std::vector<diagnostic> remarks;  // of the last reading
  std::optional<failure> refused;   // the last reading could not be served at all
  bool conclusive = false;          // refused since there is nothing to read
  std::uint64_t listed_ns = 0;
  source_state condition;
  std::vector<device> found;  // room for the next list

  [[nodiscard]] device_reply* find(slot number) noexcept {
    for (device_reply& d : devices) {
      if (d.identity.number == number) return &d;
    }
    return nullptr;
  }
};

}  // namespace hmn
