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
class fake_nvml {
 public:
  explicit fake_nvml(const std::string& path);
  ~fake_nvml();
  fake_nvml(const fake_nvml&) = delete;
  fake_nvml& operator=(const fake_nvml&) = delete;

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
class plain_reading final : public hmn::reading {
 public:
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    return is_over && is_over() ? 1 : deadline;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return trace; }
  [[nodiscard]] bool wants_diagnostics() const noexcept override { return listens; }
  [[nodiscard]] bool is_quick() const noexcept override { return quick; }
  void diagnose(const hmn::diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override { ++openings; }
  void opened() noexcept override { ++closings; }

  // Those of one subject that are no trace; 0: of all.
  [[nodiscard]] std::vector<hmn::diagnostic> about(std::uint32_t subject = 0) const;

  std::uint64_t deadline = UINT64_MAX;
  // Whether it has passed, in a test where something else than the clock decides.
  std::function<bool()> is_over;
  bool trace = false;
  bool quick = false;
  bool listens = true;
  int openings = 0;
  int closings = 0;
  std::vector<hmn::diagnostic> diagnostics;
};

// One GPU of 16 GiB, with `device` as further members of it and `more` of the scenario.
std::string one_gpu(std::string_view device = {}, std::string_view more = {});
std::string gpu(unsigned bus, std::string_view device = {});
// Members of a GPU of which every call returns a value.
extern const char* const every_value;
// Of a process that must have one.
const hmn::usage& row_of(const std::vector<hmn::usage>& rows, std::uint32_t pid);
std::string machine_of(std::string_view devices, std::string_view more = {});
std::string uuid_of(unsigned bus);
hmn::settings settings_of(const hmn_fake::tree& tree);

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

// The fake driver of `path`, a scenario and a source on them. The tree begins without any device
// and in the initial PID namespace.
class machine {
 public:
  explicit machine(const std::string& scenario, const std::string& path = HMN_FAKE_NVML);

  // Members of the settings that a test changes are set before the first use of `source`.
  hmn::settings settings;
  hmn_fake::tree tree;
  fake_nvml driver;

  hmn::device_source& source();
  void restart() { source_.reset(); }

  // One reading: prepare, then what is named, without what cannot be. Fails the test when that
  // fails.
  std::vector<hmn::device> devices();
  hmn::pool pool(hmn::slot number = 0);
  std::vector<hmn::usage> processes(hmn::slot number = 0);
  hmn::telemetry telemetry(hmn::slot number = 0, std::uint64_t fields = hmn::telemetry_field::all);

  // The same, with the failure as the answer.
  hmn::result<void> prepare();
  hmn::result<void> list(std::vector<hmn::device>& out);
  hmn::result<void> memory(hmn::slot number, hmn::pools& out);
  hmn::result<void> process(hmn::slot number, std::uint32_t pid, bool self, hmn::usage& out);

  // As a reading leaves it. The size of the device is known once it is listed.
  hmn::result<void> kept(hmn::slot number, hmn::usage& row, std::uint32_t about);

  plain_reading reading;  // the last one

  // A process of the tree that holds these descriptors.
  void add_process(std::uint32_t pid, const std::vector<std::string>& descriptors) const;
  void add_self(const std::vector<std::string>& descriptors, std::uint64_t pid_namespace) const;

 private:
  std::unique_ptr<hmn::device_source> source_;
  std::vector<hmn::device> listed_;
};

// Within a second of it an opening is not tried again, on a machine that is not held up.
class moment_of_opening {
 public:
  [[nodiscard]] bool is_recent() const {
    return hmn::platform::monotonic_ns() - at_ < hmn::platform::ns_per_second;
  }

 private:
  const std::uint64_t at_ = hmn::platform::monotonic_ns();
};

inline constexpr std::uint64_t initial_namespace = 0xEFFFFFFC;
inline constexpr std::uint64_t other_namespace = 0xF0000123;

void require_ok(const hmn::result<void>& done);
