// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
  std::size_t unknown_size() const { return unknown_size_; }

 private:
  std::map<std::uint32_t, usage_sum> sums_;  // by device
  std::size_t unknown_size_ = 0;
  bool is_partial_ = false;
};

enum class group_by { user, container, device };
expected<group_by> parse_group_by(std::string_view text);

// Rows of one user, of one container, or of one device.
struct usage_group {
  std::optional<std::string> name;  // of a user or a container
  bool is_known = true;             // false: rows whose user or container is not known
  std::shared_ptr<const gpu> on;    // of a device, else that of a row
  std::optional<std::uint32_t> uid;
  usage_tally total;
  std::set<std::uint32_t> pids;
  std::set<std::uint32_t> devices;
};

// Devices whose lists of processes are missing or lack some.
struct partial_lists {
  bool all = false;
  std::set<std::uint32_t> devices;

  bool any() const { return all || !devices.empty(); }
};

// Returns the rows but those of a divided GPU that its partitions list as well, with the same
// bytes.
std::vector<const process_row*> counted_rows(const std::vector<process_row>& rows);

// Sums rows, the greatest sum first, then by name; unknown ones last. A row whose user or container
// is not known may belong to any, whose sums are then lower bounds. Rows have their users where
// they are grouped by these.
std::vector<usage_group> group_rows(const std::vector<process_row>& rows, group_by by,
                                    const partial_lists& partial);

}  // namespace hmn::cli
