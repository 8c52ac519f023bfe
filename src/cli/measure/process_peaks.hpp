// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cli/measure/session.hpp"
#include "cli/system/process_tree.hpp"

namespace hmn::cli {

// The most that single processes have held of a device, by the driver's own account of each.
struct kept_peak {
  std::optional<std::uint64_t> largest_bytes;  // absent: of some process it is not known
  std::uint32_t processes = 0;                 // that have an account
  hypomnesis::backend_id backend{};            // whose
  const char* why = "";                        // largest_bytes is missing
};

// A row of a process that the driver no longer lists, and whose account it has kept.
bool is_account_only(const hypomnesis::usage& row) noexcept;

// A command's processes on one device, from their rows while it runs and once more when it has
// ended: a driver that keeps accounts keeps them then.
class process_peaks {
 public:
  // It was seen; row: what it uses there, NULL: nothing.
  void add(const process_tree::member& who, const hypomnesis::usage* row);

  struct question {
    const session& in;
    std::uint32_t device_index;
    std::uint64_t started_unix_ns;                     // of the command
    const std::vector<process_tree::member>& members;  // that have not ended
    std::chrono::steady_clock::time_point until;
  };
  kept_peak end(const question& asked) const;

 private:
  struct seen {
    std::uint64_t start = 0;  // as the tree tells it
    bool has_used = false;
    bool has_account = false;
    std::uint64_t used_bytes = 0;  // the most
  };
  enum class answer { none, bytes, unknown };
  struct told {
    answer what = answer::unknown;
    std::uint64_t bytes = 0;
    hypomnesis::backend_id backend{};
  };

  static told nothing_of(const seen& known) {
    return {known.has_used ? answer::unknown : answer::none, 0, {}};
  }
  static told judge(const question& asked, const hypomnesis::usage& row, const seen& known);
  static told ask(const question& asked, std::uint32_t pid, const seen& known);

  std::map<std::uint32_t, seen> all_;  // by pid
  bool is_partial_ = false;            // one was forgotten that used the device
};

}  // namespace hmn::cli
