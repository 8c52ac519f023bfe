// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An opening of NVML. Closing shuts NVML down and keeps the library loaded; a failed opening
// unloads it, so that the next attempt finds a library that was installed in the meantime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/nvml/call.hpp"
#include "model/text.hpp"
#include "platform/library.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

class Session {
 public:
  explicit Session(const Settings& settings) : settings_(settings) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  // Number of openings: handles of earlier ones are invalid.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t open_time_ns() const noexcept { return open_time_ns_; }
  // Failure of an opening less than a second ago; nullptr if another may be tried.
  [[nodiscard]] const Failure* recent_refusal() const noexcept;

  // Loads the library, if it is not loaded, without initialising it.
  Result<void> load();
  // `gpu_count`: number of GPUs of the nvidia driver.
  Result<void> open(const CallContext& context, std::size_t gpu_count);
  void close() noexcept;

  [[nodiscard]] const platform::Library& library() const noexcept { return library_; }

  Symbols fn;
  Text<96> driver_version;
  std::optional<std::uint32_t> cuda_version;  // 1000 * major + 10 * minor
  std::optional<Failure> driver_version_failure;
  std::optional<Failure> cuda_version_failure;

  // Findings about this driver.
  bool refuses_memory_v2 = false;
  std::array<std::size_t, 3> row_sizes{};  // for each process list; 0: unknown

  EventSet events = nullptr;  // of this opening, created on first use
  void free_events() noexcept;

 private:
  Result<void> initialise(const CallContext& context, std::size_t gpu_count);
  bool initialise_detached(const CallContext& context, std::size_t gpu_count, Code& answer);
  void read_versions(const CallContext& context);
  void read_cuda_version(const CallContext& context);
  void begin();
  Result<void> record_failure(const Failure& failure);

  const Settings& settings_;
  platform::Library library_;
  bool is_open_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t process_ = 0;  // process that opened it
  std::uint64_t open_time_ns_ = 0;
  std::uint64_t failure_time_ns_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace hmn::nvml
