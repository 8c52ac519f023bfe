// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/pdh/abi.hpp"
#include "backends/pdh/instance.hpp"

namespace hmn::pdh {

struct Counter {
  const char16_t* path;     // with "*" for the instance
  bool is_required = true;  // false: older systems lack it
};

struct Row {
  Instance instance;
  bool is_valid = false;
  std::int64_t whole = 0;
  double real = 0;
};

// The counters of one object, kept open between readings. They are added before any function that
// reads them is called: Wine lacks the counters, and its stubs of those functions abort the
// process.
class Query {
 public:
  static constexpr std::size_t max_counters = 4;

  Query(std::span<const Counter> counters, std::uint32_t format) noexcept
      : definitions_(counters), format_(format) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { close(); }

  // Collects current values. Opens the query again, once, if the system has dropped it.
  Result<void> collect(const Functions& fn);
  // Reads the values of the last collection; none if the system lacks the counter.
  Result<void> read(std::size_t index, std::vector<Row>& out);
  [[nodiscard]] bool has(std::size_t index) const noexcept { return counters_[index] != nullptr; }
  // Number of collections since it was opened.
  [[nodiscard]] std::uint64_t collections() const noexcept { return collections_; }

  void close() noexcept;

 private:
  Result<void> open();
  Result<void> fetch(Handle counter, std::uint32_t& count);
  [[nodiscard]] bool take_name(const char16_t* name, std::size_t rows);

  std::span<const Counter> definitions_;
  std::uint32_t format_;
  Functions fn_;
  Handle query_ = nullptr;
  std::array<Handle, max_counters> counters_{};
  std::vector<Item> items_;  // followed by the names
  std::string narrow_;
  std::uint64_t collections_ = 0;
  std::uint64_t refusal_time_ns_ = 0;
  std::optional<Failure> refusal_;  // missing counters are looked for once a second
  bool is_empty_ = false;
};

// From counter rows to values of adapters and processes. Pure.

// Sums the parts of one adapter for the whole device.
void add_up(std::span<const Row> rows, wddm::Luid adapter, wddm::SegmentSum& out);

// Sums the parts by process; a new process is appended.
void add_up(std::span<const Row> rows, wddm::Luid adapter,
            wddm::SegmentSum wddm::ProcessMemory::*member, std::vector<wddm::ProcessMemory>& out);

// An engine's load is the sum of its processes' loads, and a device's that of its busiest engine.
void add_up_loads(std::span<const Row> rows, wddm::Luid adapter, wddm::LoadReading& out);

}  // namespace hmn::pdh
