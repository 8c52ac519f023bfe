// SPDX-License-Identifier: MIT OR Apache-2.0
//
// NVML, opened. Closing shuts it down and keeps the library loaded; a failed opening unloads it, so
// that the next try finds what was installed meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/backend.hpp"
#include "backends/nvml/call.hpp"
#include "backends/nvml/library.hpp"
#include "model/text.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

class session {
 public:
  explicit session(const settings& s) : settings_(s) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return open_; }
  // Counts the openings: handles of an earlier one are void.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t opened_at_ns() const noexcept { return opened_at_ns_; }
  // Why an opening failed less than a second ago; nullptr when another may be tried.
  [[nodiscard]] const failure* recent_refusal() const noexcept;

  // `expected`: how many GPUs the nvidia driver is known to have.
  result<void> open(const topic& t, std::size_t expected);
  void close() noexcept;

  [[nodiscard]] const platform::library& library() const noexcept { return library_; }

  symbols fn;
  text<96> driver_version;
  std::optional<std::uint32_t> cuda_version;
  std::optional<failure> no_driver_version;
  std::optional<failure> no_cuda_version;

  // What this driver was found to do.
  bool refuses_memory_v2 = false;
  std::array<std::size_t, 3> row_size{};  // of each process list; 0: not seen yet

  event_set events = nullptr;  // of this opening, once somebody waits for one
  void free_events() noexcept;

 private:
  result<void> load();
  result<void> initialise(const topic& t, std::size_t expected);
  bool initialise_detached(const topic& t, std::size_t expected, code& answer);
  void read_versions(const topic& t);
  void read_cuda_version(const topic& t);
  void begin();
  result<void> refuse(failure why);

  const settings& settings_;
  platform::library library_;
  bool open_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t process_ = 0;  // the one that opened it
  std::uint64_t opened_at_ns_ = 0;
  std::uint64_t failed_at_ns_ = 0;
  std::optional<failure> why_;
};

}  // namespace hmn::nvml
