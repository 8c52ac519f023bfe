// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../patience.hpp"
#include "../sized.hpp"

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

// A folder of this test's own, removed with all that was written there.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] std::string path(std::string_view name) const {
    return folder_ + "/" + std::string(name);
  }
  std::string write(std::string_view name, std::string_view text);

 private:
  std::string folder_;
  std::vector<std::string> written_;
};

struct Options {
  hmn_flags flags = 0;
  std::uint64_t deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t open_deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t stale_ns = 0;
};

// A context on a machine file.
class Simulation {
 public:
  explicit Simulation(std::string_view text, const Options& o = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() { destroy(); }

  [[nodiscard]] hmn_context* context() const { return context_; }
  [[nodiscard]] const Scratch& files() const { return files_; }
  void destroy();

  // What a direct reading of the device's main pool returns.
  hmn_status read_pool(std::uint32_t device = 0);
  hmn_pool pool{};
  hmn_error error{};

 private:
  Scratch files_;
  hmn_context* context_ = nullptr;
};

// A snapshot, copied out whole.
struct TakenSnapshot {
  explicit TakenSnapshot(const Simulation& of, hmn_flags collect = every);
  static constexpr hmn_flags every = 127;

  hmn_snapshot_info info{};
  std::optional<hmn_process_memory> memory;
  std::optional<hmn_system_memory> system;
  std::vector<hmn_device> devices;
  std::vector<std::optional<hmn_telemetry>> telemetry;
  std::vector<std::optional<hmn_usage>> self;
  std::vector<hmn_pool> pools;
  std::vector<hmn_usage> usages;
  std::vector<std::string> names;  // of usages; "" where none is known
  std::vector<hmn_diagnostic> diagnostics;

  // The diagnostic about a subject of a device, if there is one.
  [[nodiscard]] const hmn_diagnostic* about(hmn_flags subject, std::uint32_t device = 0) const;
};

// A machine of one device that has these members.
std::string one_device(std::string_view members);
