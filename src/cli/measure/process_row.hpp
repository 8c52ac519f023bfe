// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/measure/sort_key.hpp"

namespace hmn::cli {

// Process on one device.
struct process_row {
  hypomnesis::usage usage{};
  std::shared_ptr<const gpu> on;  // never null
  bool is_unattributed = false;   // use by no visible process, in the same values
  std::uint32_t unsupported = 0;  // HMN_USAGE_HAS_* that its device or driver does not have
  // Looked up on request only.
  std::optional<std::string> user;
  std::optional<std::uint32_t> namespace_pid;

  bool lacks(std::uint32_t field) const { return (unsupported & field) != 0; }
};

// Counts processes, each of which has a row for every device that it uses. A reused pid is another
// process. Rows without a pid are each counted: whether they are of one process is not known.
class process_count {
 public:
  void add(const hypomnesis::usage& row);
  std::size_t size() const;

 private:
  // Starts by pid and by whether it is of another namespace; none where all are unknown.
  std::map<std::pair<std::uint32_t, bool>, std::set<std::uint64_t>> starts_;
  std::size_t without_pid_ = 0;
};

// Finds what devices and drivers do not have of the processes in a snapshot.
class unsupported_usage {
 public:
  // `all`: the usages of the snapshot. What one process of a device has, the device has. `asked`:
  // HMN_USAGE_HAS_* of the values that are shown.
  unsupported_usage(const hypomnesis::snapshot& from, const std::vector<hypomnesis::usage>& all,
                    std::uint32_t asked = ~std::uint32_t{0});
  // Returns HMN_USAGE_HAS_*.
  std::uint32_t of(const hypomnesis::usage& row) const;

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> explained_;  // pid, device: with own reasons
  std::map<std::uint32_t, std::uint32_t> by_device_;
};

// Shortens an id to 12 digits, as the runtimes' own commands do; a name stays as it is.
std::string short_container(std::string_view id);

void sort_rows(std::vector<process_row>& rows, sort_key by);

struct process_filter {
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;  // as given by the user
  std::optional<std::string> match;
};

// Returns "2 GPU processes found matching device=0 (512 MiB allocated total).". is_partial: rows
// are missing.
std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter,
                           bool is_partial = false);

}  // namespace hmn::cli
