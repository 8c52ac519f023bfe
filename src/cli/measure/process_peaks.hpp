// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/session.hpp"
#include "cli/system/process_tree.hpp"

namespace hmn::cli {

// Peak device memory of single processes, by the driver's own account of each.
struct kept_peak {
  std::optional<std::uint64_t> largest_bytes;  // absent: unknown for some process
  std::uint32_t processes = 0;                 // with an account
  hypomnesis::backend_id backend{};            // source of the account
  std::string why;                             // reason for missing largest_bytes
};

// Returns whether the driver no longer lists the row's process and has only kept its account.
bool is_account_only(const hypomnesis::usage& row) noexcept;

// Peaks of a command's processes on one device, from their rows while it runs and once after its
// end: a driver with accounts keeps them until then.
class process_peaks {
 public:
  // Records a process; row: its use of the device, NULL: none. A stale row only shows that it used
  // the device.
  void add(const process_tree::member& who, const hypomnesis::usage* row);

  struct request {
    const session& in;
    std::uint32_t device_index;
    std::uint64_t started_unix_ns;                     // of the command
    const std::vector<process_tree::member>& members;  // still running
    std::chrono::steady_clock::time_point until;
  };
  kept_peak end(const request& of) const;

 private:
  struct seen {
    std::uint64_t start = 0;  // from the tree
    bool has_used = false;
    bool has_account = false;
    std::uint64_t used_bytes = 0;  // maximum
  };
  enum class kind { none, bytes, unknown };
  struct account {
    kind what = kind::unknown;
    std::uint64_t bytes = 0;
    hypomnesis::backend_id backend{};
    std::string why{};  // of a failed reading
  };

  static account none_of(const seen& known) {
    return {known.has_used ? kind::unknown : kind::none};
  }
  static account account_in(const request& of, const hypomnesis::usage& row, const seen& known);
  static account read(const request& of, std::uint32_t pid, const seen& known);

  std::map<std::uint32_t, seen> all_;  // by pid
  bool is_partial_ = false;            // a process that used the device was dropped
};

}  // namespace hmn::cli
