// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a caller sees of a machine whose sources lie: each value, or the reason for its absence, the
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

constexpr std::uint64_t bit_of(std::uint32_t backend) {
  return std::uint64_t{1} << backend;
}

// `key` is that of the JSON, "used_bytes"; "self.used_bytes" for what the caller uses,
// "pid:<number>" for the memory of a process, ">=" before a lower bound; "processes" for the list
// of them, which is "listed", or the reason why it is not, or not whole; "clock_mhz/sm" for a
// metric's instance, "host:used_bytes" for a pool that is not the main one. `is` is a number, or
// the name of a reason.
struct Expectation {
  std::string key;
  std::string is;
};

class Observer {
 public:
  Observer(std::uint64_t backends_off, std::uint32_t deadline_ms);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  void set(std::uint32_t which, const std::string& path) const;

  // Takes a new snapshot; `more`: HMN_COLLECT_* in addition to devices and their values.
  void take(hmn_flags more = 0);
  [[nodiscard]] std::uint32_t devices() const;
  // Of the first device; "none" without one.
  [[nodiscard]] std::string see(const std::string& key) const;
  // Sentence of the reason for its absence; "" for a value.
  [[nodiscard]] std::string why(const std::string& key) const;
  // Reason of the first diagnostic that contains the words; "none" without one.
  [[nodiscard]] std::string diagnosed(const std::string& words) const;
  [[nodiscard]] bool is_partial() const;
  void check(const std::vector<Expectation>& all) const;

 private:
  [[nodiscard]] std::string through_c(const std::string& key, hmn_diagnostic& why) const;
  [[nodiscard]] std::string of_process(std::uint32_t pid) const;
  [[nodiscard]] std::string of_list() const;
  [[nodiscard]] std::string of_metric(const std::string& key, hmn_diagnostic& why) const;
  [[nodiscard]] std::string of_pool(const std::string& key, hmn_diagnostic& why) const;
  [[nodiscard]] std::pair<const void*, hmn_flags> record_of(hmn_flags subject) const;
  // The snapshot as JSON.
  [[nodiscard]] const nlohmann::json& document() const;

  hmn_context* context_ = nullptr;
  hmn_snapshot* snapshot_ = nullptr;
  mutable std::unique_ptr<nlohmann::json> document_;
  // The records that were last read.
  mutable hmn_pool pool_{};
  mutable hmn_telemetry telemetry_{};
  mutable hmn_usage self_{};
};

// One row of a table.
struct Lie {
  const char* name;
  std::string printed;
  std::vector<Expectation> sees;
  const char* words = nullptr;   // of a diagnostic
  const char* reason = nullptr;  // of that diagnostic
};

void check_lie(const Observer& w, const Lie& l);

}  // namespace lies_test
