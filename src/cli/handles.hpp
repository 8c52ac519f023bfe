// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

template <class T>
T sized() noexcept {
  T out{};
  out.struct_size = sizeof(T);
  return out;
}

template <class T>
bool has(const T& value, hmn_flags bit) noexcept {
  return (value.present & bit) != 0;
}

template <class T, class Field>
std::optional<Field> known(const T& value, hmn_flags bit, Field field) noexcept {
  return has(value, bit) ? std::optional<Field>(field) : std::nullopt;
}

struct context_settings {
  std::uint32_t timeout_ms = 0;
  bool trace = false;
  std::string machine;  // path of a machine file; empty: this machine
  bool record = false;
  std::uint32_t deadline_ms = 0;  // of one reading; 0: the timeout
};

class snapshot {
 public:
  snapshot(hmn_snapshot* owned, bool is_simulated) : handle_(owned), is_simulated_(is_simulated) {}

  hmn_snapshot_info info() const;
  std::optional<hmn_system_memory> system() const;
  std::vector<hmn_device> devices() const;
  std::vector<hmn_pool> pools() const;
  std::vector<hmn_usage> usages() const;
  std::vector<hmn_metric> metrics() const;
  std::vector<hmn_diagnostic> diagnostics() const;
  std::optional<hmn_telemetry> telemetry(std::uint32_t device) const;  // by position
  // HMN_TEXT_*
  std::optional<std::string> text(std::uint32_t which, std::uint32_t position) const;
  expected<std::string> json() const;
  hmn_snapshot* native() const { return handle_.get(); }
  // A machine file took the place of this machine.
  bool is_simulated() const { return is_simulated_; }

 private:
  struct destroy {
    void operator()(hmn_snapshot* made) const noexcept { hmn_snapshot_destroy(made); }
  };
  std::unique_ptr<hmn_snapshot, destroy> handle_;
  bool is_simulated_;
};

class context {
 public:
  static expected<context> open(const context_settings& settings);

  // Within what is left of the timeout.
  expected<snapshot> take(hmn_snapshot_options what) const;
  // Within the deadline that it names: of commands that go on longer.
  expected<snapshot> take_by_deadline(const hmn_snapshot_options& what) const;
  expected<std::uint32_t> device_count() const;
  expected<std::uint32_t> find(const std::string& key) const;
  expected<hmn_device> device(std::uint32_t index) const;
  // HMN_OK, or why the system does not describe the process.
  hmn_status process_status(std::uint32_t pid) const;
  std::optional<hmn_backend_info> backend(std::uint32_t number) const;
  hmn_context* native() const { return handle_.get(); }
  // What was read so far, as a machine file.
  expected<std::string> recording() const;
  // Nothing unless a machine file takes the place of this machine.
  std::optional<hmn_backend_info> simulation() const;
  // The same without asking, which a machine file would count as a reading.
  bool is_simulated() const { return is_simulated_; }

 private:
  struct destroy {
    void operator()(hmn_context* made) const noexcept { hmn_context_destroy(made); }
  };
  context(hmn_context* owned, const context_settings& settings);
  std::uint32_t remaining_ms() const;

  using clock = std::chrono::steady_clock;
  std::unique_ptr<hmn_context, destroy> handle_;
  clock::time_point ends_;
  bool is_simulated_;
};

}  // namespace hmn::cli
