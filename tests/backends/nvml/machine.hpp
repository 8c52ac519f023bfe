// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The NVML source over the fake driver and a fake /proc and /sys.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fake_tree.hpp"
#include "platform/clock.hpp"
#include "source/interface.hpp"

// Controls of the fake driver (tests/fakes/nvml/fake_nvml.h), loaded as long as this object lives.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& path);
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  void load(const std::string& scenario) const;
  void driver_reload() const;
  void raise(unsigned device, unsigned long long xid) const;
  [[nodiscard]] int event_sets() const;
  [[nodiscard]] unsigned long long waited_ms() const;
  [[nodiscard]] unsigned long long calls(const char* symbol) const;
  [[nodiscard]] int initialized() const;
  [[nodiscard]] unsigned init_flags() const;

 private:
  void* library_;
};

// Records what a source reports.
class PlainReading final : public hmn::Reading {
 public:
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    return has_expired && has_expired() ? 1 : deadline;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return trace; }
  [[nodiscard]] bool wants_diagnostics() const noexcept override { return accepts_diagnostics; }
  [[nodiscard]] bool is_quick() const noexcept override { return quick; }
  void diagnose(const hmn::Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override { ++openings; }
  void end_opening() noexcept override { ++closings; }

  // Diagnostics of one subject, without traces; 0: of all subjects.
  [[nodiscard]] std::vector<hmn::Diagnostic> find_diagnostics(std::uint32_t subject = 0) const;

  std::uint64_t deadline = UINT64_MAX;
  // Whether the deadline has passed, for tests in which the clock does not decide.
  std::function<bool()> has_expired;
  bool trace = false;
  bool quick = false;
  bool accepts_diagnostics = true;
  int openings = 0;
  int closings = 0;
  std::vector<hmn::Diagnostic> diagnostics;
};

// Scenario of one GPU of 16 GiB; `device` and `more` are further members of GPU and scenario.
std::string one_gpu(std::string_view device = {}, std::string_view more = {});
std::string gpu(unsigned bus, std::string_view device = {});
// Members of a GPU for which every call returns a value.
extern const char* const every_value;
// Returns the row of a process; fails the test without one.
const hmn::Usage& find_row(const std::vector<hmn::Usage>& rows, std::uint32_t pid);
std::string make_scenario(std::string_view devices, std::string_view more = {});
std::string make_uuid(unsigned bus);
hmn::Settings make_settings(const hmn_fake::Tree& tree);

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

// The fake driver of `path` with a scenario, and a source over it. The tree starts without a device
// and in the initial PID namespace.
class Machine {
 public:
  explicit Machine(const std::string& scenario, const std::string& path = HMN_FAKE_NVML);

  // Members of the settings that a test changes are set before the first use of `source`.
  hmn::Settings settings;
  hmn_fake::Tree tree;
  FakeNvml driver;

  hmn::DeviceSource& source();
  void restart() { source_.reset(); }

  // One reading: prepare(), then the call, without impossible values. Fails the test if either
  // fails.
  std::vector<hmn::Device> devices();
  hmn::Pool pool(hmn::Slot number = 0);
  std::vector<hmn::Usage> processes(hmn::Slot number = 0);
  hmn::Telemetry telemetry(hmn::Slot number = 0, std::uint64_t fields = hmn::telemetry_field::all);

  // The same, but returns the failure.
  hmn::Result<void> prepare();
  hmn::Result<void> list(std::vector<hmn::Device>& out);
  hmn::Result<void> memory(hmn::Slot number, hmn::PoolList& out);
  hmn::Result<void> process(hmn::Slot number, std::uint32_t pid, bool self, hmn::Usage& out);

  // Drops impossible values, as a reading does. A device's size is known once it is listed.
  hmn::Result<void> drop_impossible(hmn::Slot number, hmn::Usage& row, std::uint32_t subject);

  PlainReading reading;  // the last one

  // A process of the tree that holds these descriptors.
  void add_process(std::uint32_t pid, const std::vector<std::string>& descriptors) const;
  void add_self(const std::vector<std::string>& descriptors, std::uint64_t pid_namespace) const;

 private:
  std::unique_ptr<hmn::DeviceSource> source_;
  std::vector<hmn::Device> devices_;
};

// Time of an opening. A failed one is not retried within a second, unless the machine is slow.
class OpeningTime {
 public:
  [[nodiscard]] bool is_recent() const {
    return hmn::platform::monotonic_ns() - time_ns_ < hmn::platform::ns_per_second;
  }

 private:
  const std::uint64_t time_ns_ = hmn::platform::monotonic_ns();
};

inline constexpr std::uint64_t initial_namespace = 0xEFFFFFFC;
inline constexpr std::uint64_t other_namespace = 0xF0000123;

void require_ok(const hmn::Result<void>& result);
