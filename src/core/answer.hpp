// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Plan of a reading and the answers of a source to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/plausible.hpp"
#include "source/interface.hpp"

namespace hmn {

struct plan {
  bool list = false;
  bool pools = false;
  bool self = false;
  bool processes = false;
  bool metrics = false;
  bool slow = false;   // includes slow metrics
  bool quick = false;  // leaves out what a driver takes milliseconds for
  std::optional<source> describe;
  std::uint32_t telemetry = 0;  // telemetry_field bits
  std::uint32_t pid = 0;        // reads this process alone, by process(); 0: none
  std::uint32_t own_pid = 0;
  std::optional<slot> only;  // one device; none: all devices
  bool wants_trace = false;
  bool fills = false;            // only what better sources lack
  std::uint64_t max_age_ns = 0;  // of an answer that a source may give again
  std::uint64_t begun_ns = 0;    // when the source was given it

  [[nodiscard]] bool operator==(const plan&) const = default;
};

// Presence bits that a device lacks, by subject.
struct gap {
  std::array<std::uint32_t, 9> fields{};

  // Takes a subject's bit.
  [[nodiscard]] std::uint32_t& of(std::uint32_t subject_bit) noexcept {
    return fields[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
  [[nodiscard]] bool is_any() const noexcept {
    std::uint32_t any = 0;
    for (const std::uint32_t f : fields) any |= f;
    return any != 0;
  }
};

// Part of a device: the last answer and, when the last attempt failed, the reason.
template <class T>
struct cached {
  T value{};
  std::uint64_t taken_ns = 0;  // when the value was read; 0: never
  std::uint64_t tried_ns = 0;  // when the last reading of it began; 0: never
  std::optional<failure> why;
  bool stands = false;    // the value is kept although the last attempt failed: stale
  bool is_quick = false;  // the last reading left out what takes milliseconds

  void succeeded(std::uint64_t begun, std::uint64_t now) {
    tried_ns = begun;
    taken_ns = now;
    why.reset();
  }
  void failed(std::uint64_t begun, const failure& f, bool value_stands) {
    tried_ns = begun;
    stands = value_stands;
    why = f;
  }
};

struct device_cache {
  device identity;
  bool listed = false;  // in the latest device list
  cached<hmn::pools> pools;
  cached<hmn::telemetry> telemetry;
  std::uint32_t telemetry_asked = 0;
  std::uint32_t telemetry_lacks = 0;  // what the device does not have
  cached<usage> self;
  cached<usage> process;  // of plan.pid
  cached<std::vector<usage>> processes;
  cached<std::vector<metric>> metrics;
  bool slow_asked = false;
  energy_history energy{};
};

struct source_cache {
  std::vector<device_cache> devices;
  std::vector<diagnostic> diagnostics;  // of the last reading
  std::optional<failure> refused;       // the last reading could not be served at all
  bool conclusive = false;              // refused because there is nothing to read
  bool rests = false;                   // the last reading let the devices sleep
  std::uint64_t listed_ns = 0;
  source_state condition;
  std::vector<device> found;  // reserves the capacity for the next list

  slot end = 0;            // all numbers are below it
  std::size_t latest = 0;  // position of the device that entry_of() returned last

  // Returns the entry of a device, which is added if needed. Mostly they are asked for in order.
  [[nodiscard]] device_cache& entry_of(slot number);
  // Takes the list of devices from a newer answer, what was read of one device, and how the reading
  // ended.
  void update_list(const source_cache& fresh);
  void update_device(device_cache& fresh);
  void finish(source_cache& fresh) noexcept;
};

}  // namespace hmn
