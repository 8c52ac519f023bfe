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

// The controls of a fake driver (tests/fakes/nvml/fake_nvml.h), which stays loaded for its life.
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

// Keeps what a source reports.
class PlainReading final : public hmn::Reading {
 public:
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    return is_over && is_over() ? 1 : deadline;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return trace; }
  [[nodiscard]] bool wants_diagnostics() const noexcept override { return listens; }
  [[nodiscard]] bool is_quick() const noexcept override { return quick; }
  void diagnose(const hmn::Diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override { ++openings; }
  void opened() noexcept override { ++closings; }

  // Those of one subject that are no trace; 0: of all.
  [[nodiscard]] std::vector<hmn::Diagnostic> about(std::uint32_t subject = 0) const;

  std::uint64_t deadline = UINT64_MAX;
  // Whether it has passed, in a test where something else than the clock decides.
  std::function<bool()> is_over;
  bool trace = false;
  bool quick = false;
  bool listens = true;
  int openings = 0;
  int closings = 0;
  std::vector<hmn::Diagnostic> diagnostics;
};

// One GPU of 16 GiB, with `device` as further members of it and `more` of the scenario.
std::string one_gpu(std::string_view device = {}, std::string_view more = {});
std::string gpu(unsigned bus, std::string_view device = {});
// Members of a GPU of which every call returns a value.
extern const char* const every_value;
// Of a process that must have one.
const hmn::Usage& row_of(const std::vector<hmn::Usage>& rows, std::uint32_t pid);
std::string machine_of(std::string_view devices, std::string_view more = {});
std::string uuid_of(unsigned bus);
hmn::Settings settings_of(const hmn_fake::Tree& tree);

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

// The fake driver of `path`, a scenario and a source on them. The tree begins without any device
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

  // One reading: prepare, then what is named, without what cannot be. Fails the test when that
  // fails.
  std::vector<hmn::Device> devices();
  hmn::Pool pool(hmn::Slot number = 0);
  std::vector<hmn::Usage> processes(hmn::Slot number = 0);
  hmn::Telemetry telemetry(hmn::Slot number = 0, std::uint64_t fields = hmn::telemetry_field::all);

  // The same, with the failure as the answer.
  hmn::Result<void> prepare();
  hmn::Result<void> list(std::vector<hmn::Device>& out);
  hmn::Result<void> memory(hmn::Slot number, hmn::Pools& out);
  hmn::Result<void> process(hmn::Slot number, std::uint32_t pid, bool self, hmn::Usage& out);

  // As a reading leaves it. The size of the device is known once it is listed.
  hmn::Result<void> kept(hmn::Slot number, hmn::Usage& row, std::uint32_t about);

  PlainReading reading;  // the last one

  // A process of the tree that holds these descriptors.
  void add_process(std::uint32_t pid, const std::vector<std::string>& descriptors) const;
  void add_self(const std::vector<std::string>& descriptors, std::uint64_t pid_namespace) const;

 private:
  std::unique_ptr<hmn::DeviceSource> source_;
  std::vector<hmn::Device> listed_;
};

// Within a second of it an opening is not tried again, on a machine that is not held up.
class MomentOfOpening {
 public:
  [[nodiscard]] bool is_recent() const {
    return hmn::platform::monotonic_ns() - at_ < hmn::platform::ns_per_second;
  }

 private:
  const std::uint64_t at_ = hmn::platform::monotonic_ns();
};

inline constexpr std::uint64_t initial_namespace = 0xEFFFFFFC;
inline constexpr std::uint64_t other_namespace = 0xF0000123;

void require_ok(const hmn::Result<void>& done);
