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

// A temporary folder, removed with its files at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] std::string path(std::string_view name) const {
    return folder_ + "/" + std::string(name);
  }
  std::string write(std::string_view name, std::string_view text);

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

struct ContextOptions {
  hmn_flags flags = 0;
  std::uint64_t deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t open_deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t stale_ns = 0;
};

// A context on a machine file.
class Simulation {
 public:
  explicit Simulation(std::string_view text, const ContextOptions& options = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() { destroy(); }

  [[nodiscard]] hmn_context* context() const { return context_; }
  [[nodiscard]] const ScratchFolder& files() const { return files_; }
  void destroy();

  // Reads the main pool of the device directly.
  hmn_status read_pool(std::uint32_t device = 0);
  hmn_pool pool{};
  hmn_error error{};

 private:
  ScratchFolder files_;
  hmn_context* context_ = nullptr;
};

// A copy of all parts of a snapshot.
struct SnapshotCopy {
  explicit SnapshotCopy(const Simulation& simulation, hmn_flags collect = all_subjects);
  static constexpr hmn_flags all_subjects = 127;

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

  // Returns the diagnostic about a subject of a device, or null.
  [[nodiscard]] const hmn_diagnostic* find_diagnostic(hmn_flags subject,
                                                      std::uint32_t device = 0) const;
};

// Returns a machine file with one device that has these members.
std::string make_machine(std::string_view members);
