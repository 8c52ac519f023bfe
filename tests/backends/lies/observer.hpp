// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads a machine whose sources lie: each value, or the reason for its absence, must be the
// same through the C interface and in JSON.
#pragma once

#include <hypomnesis.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../sized.hpp"

namespace lies_test {

constexpr std::uint64_t backend_bit(std::uint32_t backend) {
  return std::uint64_t{1} << backend;
}

// `key` is that of the JSON, "used_bytes"; "self.used_bytes" for what the caller uses,
// "pid:<number>" for the memory of a process, ">=" before a lower bound; "processes" for the list
// of them, which is "listed", or the reason why it is not, or not whole; "clock_mhz/sm" for a
// metric's instance, "host:used_bytes" for a pool that is not the main one. `value` is a number, or
// the name of a reason.
struct Expectation {
  std::string key;
  std::string value;
};

class Observer {
 public:
  Observer(std::uint64_t backends_off, std::uint32_t deadline_ms);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  void set_path(std::uint32_t kind, const std::string& path) const;

  // Takes a new snapshot; `extra`: HMN_COLLECT_* in addition to devices and their values.
  void take_snapshot(hmn_flags extra = 0);
  [[nodiscard]] std::uint32_t count_devices() const;
  // Of the first device; "none" without one.
  [[nodiscard]] std::string read(const std::string& key) const;
  // Sentence of the reason for its absence; "" for a value.
  [[nodiscard]] std::string explain(const std::string& key) const;
  // Reason of the first diagnostic that contains the words; "none" without one.
  [[nodiscard]] std::string find_reason(const std::string& words) const;
  [[nodiscard]] bool is_partial() const;
  void check(const std::vector<Expectation>& all) const;

 private:
  [[nodiscard]] std::string read_native(const std::string& key, hmn_diagnostic& diagnostic) const;
  [[nodiscard]] std::string read_process(std::uint32_t pid) const;
  [[nodiscard]] std::string read_list() const;
  [[nodiscard]] std::string read_metric_value(const std::string& key,
                                              hmn_diagnostic& diagnostic) const;
  [[nodiscard]] std::string read_pool_value(const std::string& key,
                                            hmn_diagnostic& diagnostic) const;
  [[nodiscard]] std::pair<const void*, hmn_flags> find_record(hmn_flags subject) const;
  // The snapshot as JSON.
  [[nodiscard]] const nlohmann::json& document() const;

  hmn_context* context_ = nullptr;
  hmn_snapshot* snapshot_ = nullptr;
  mutable std::unique_ptr<nlohmann::json> document_;
  // The last records read.
  mutable hmn_pool pool_{};
  mutable hmn_telemetry telemetry_{};
  mutable hmn_usage self_{};
};

// One row of a table.
struct Lie {
  const char* name;
  std::string output;
  std::vector<Expectation> expectations;
  const char* words = nullptr;   // of a diagnostic
  const char* reason = nullptr;  // of that diagnostic
};

void check_lie(const Observer& observer, const Lie& lie);

}  // namespace lies_test
