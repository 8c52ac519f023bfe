// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One device seen by several sources: each value from the best of them that has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/answer.hpp"
#include "core/freshness.hpp"
#include "core/limits.hpp"

namespace hmn {

// Take from `other` what `best` lacks.
void merge(device& best, const device& other);
void merge(telemetry& best, const telemetry& other);
void merge(pool& best, const pool& other);  // of one kind

// What the sources have answered of one device in one reading. Sources are merged in order of
// preference.
struct merged_device {
  device identity;  // as the context numbers it
  hmn::pools pools;
  std::optional<hmn::telemetry> telemetry;
  std::optional<usage> self;
  std::optional<usage> process;  // of plan.pid
  std::vector<usage> processes;
  std::vector<metric> metrics;
  std::uint32_t answered = 0;  // subject bits: a source has served it
  std::uint32_t found = 0;     // subject bits: nothing of it is left open
  bool can_be_summed = true;   // the list of processes is whole, and each has its `used`
  // Why the first of the sources that failed could not serve a subject, by the number of its bit.
  std::array<std::optional<failure>, 8> missing;

  [[nodiscard]] std::optional<failure>& missing_of(std::uint32_t subject_bit) noexcept {
    return missing[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
};

// Adds what a source answered of the device. The subject of a single process is `processes`.
void merge(merged_device& into, const device_answer& from, const plan& p, const moment& m,
           const limits& l);

// What a direct reading wants of the plan's subjects; a snapshot wants everything.
struct selection {
  pool_kind pool = pool_kind::main;
  std::uint32_t pool_fields = 0;
  const hmn::metric* number = nullptr;  // its id and instance
};

// Whether no other source can add to what is wanted.
bool is_complete(const merged_device& d, const plan& p, const selection& wanted) noexcept;

// What one source could not serve and another did is not missing. Afterwards `missing` has what is.
void drop_found(merged_device& d) noexcept;

}  // namespace hmn
