// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/process_row.hpp"
#include "cli/text/usage_total.hpp"

namespace hmn::cli {

// Sum of what rows use, of any devices.
class usage_tally {
 public:
  void add(const hypomnesis::usage& row);
  // Records that rows may be missing.
  void set_partial() { is_partial_ = true; }

  // Returns none if no row has a value.
  std::optional<std::uint64_t> bytes() const;
  bool is_at_least() const;
  // Returns the number of processes with a row that has no value.
  std::size_t unknown_size() const { return unknown_size_.size(); }
  std::optional<double> busy_percent() const { return busy_percent_; }
  bool is_busy_at_least() const { return is_partial_ || lacks_busy_; }

 private:
  std::map<std::uint32_t, usage_sum> sums_;  // by device
  process_count unknown_size_;
  std::optional<double> busy_percent_;
  bool is_partial_ = false;  // rows may be missing
  bool is_lower_bound_ = false;
  bool lacks_busy_ = false;
};

// What is used is added up by; a command has some of them.
enum class grouping : std::uint8_t { process, user, container, pod, job, unit, device };
std::string_view word_of(grouping by) noexcept;
expected<grouping> parse_grouping(std::string_view option, std::string_view text,
                                  std::span<const grouping> known);

// Rows of one user, of one container, or of one device.
struct usage_group {
  std::optional<std::string> name;  // of a user or a container
  bool is_known = true;             // false: rows whose user or container is not known
  std::shared_ptr<const gpu> on;    // of a device, else that of a row
  std::optional<std::uint32_t> uid;
  usage_tally total;
  process_count processes;
  std::set<std::uint32_t> devices;
  std::vector<std::size_t> rows;  // positions, with those of repeated rows
};

// Devices whose lists of processes are missing or lack some.
struct partial_lists {
  bool all = false;
  std::set<std::uint32_t> devices;

  bool any() const { return all || !devices.empty(); }
  bool lacks(std::uint32_t device) const { return all || devices.contains(device); }
};

using row_list = std::vector<const process_row*>;
row_list list_of(const std::vector<process_row>& rows);

// Rows of a divided GPU that its partitions list as well, with the same bytes.
class repeated_rows {
 public:
  repeated_rows() = default;
  explicit repeated_rows(const row_list& all);
  void add(const hypomnesis::usage& row, const hypomnesis::device& on);
  bool contains(const hypomnesis::usage& row) const {
    return on_partitions_.contains({row.pid, row.device_index});
  }
  bool contains(const process_row& row) const { return contains(row.usage); }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> on_partitions_;  // pid and the whole GPU
};

// Sums rows, the greatest sum first, then by name; unknown ones last. A row whose user or container
// is not known may belong to any, whose sums are then lower bounds. Rows have their users where
// they are grouped by these.
std::vector<usage_group> group_rows(const row_list& rows, grouping by,
                                    const partial_lists& partial);

}  // namespace hmn::cli
