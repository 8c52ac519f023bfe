// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/system/process.hpp"
#include "cli/text/numbers.hpp"

namespace hmn::cli {

// Order of processes: `--sort` of `hmn ps` and, but for the last two, of `hmn watch`.
enum class SortKey { vram, shared, total, ram, pid, name, load, user };
constexpr std::string_view sort_words[] = {"vram", "shared", "total", "ram",
                                           "pid",  "name",   "load",  "user"};
constexpr std::size_t watch_sort_word_count = 6;

Expected<SortKey> parse_sort_key(std::string_view text, std::span<const std::string_view> choices);
// Returns the key as in a sentence: "VRAM", "name".
std::string_view format_sort_key(SortKey key) noexcept;

// Process on one device.
struct ProcessRow {
  hypomnesis::usage usage{};
  std::shared_ptr<const Gpu> gpu;  // never null
  bool is_unattributed = false;    // use by no visible process, in the same values
  std::uint32_t unsupported = 0;   // HMN_USAGE_HAS_* that its device or driver does not have
  PoolUse pool_use;                // used_bytes is one of them: see select_pool()
  bool is_split = false;           // used_bytes of the library counts several pools
  // Looked up on request only.
  std::optional<std::string> user;
  std::optional<std::uint32_t> namespace_pid;
  std::optional<procfs::Workload> workload;  // none: its control groups are not known

  bool lacks(std::uint32_t field) const { return (unsupported & field) != 0; }
};

// Makes used_bytes the use of one pool: of the device's own memory, next to that of host RAM, or of
// the pool that is shown as the device's memory. Call once, after `gpu` is set.
void select_pool(ProcessRow& row, std::optional<std::uint64_t> PoolUse::*field) noexcept;

// Returns VRAM and shared memory, as far as known, saturating.
std::optional<std::uint64_t> compute_total_bytes(const ProcessRow& row) noexcept;
// Orders sizes descending with unknown ones last, names with unknown ones first, then pids, then
// devices.
bool comes_before(const ProcessRow& a, const ProcessRow& b, SortKey key);

// Counts processes, each of which has a row for every device that it uses. A reused pid is another
// process. Rows without a pid are each counted: whether they are of one process is not known.
class ProcessCount {
 public:
  void add(const hypomnesis::usage& row);
  std::size_t size() const;

 private:
  // Starts by pid and by whether it is of another namespace; none where all are unknown.
  std::map<std::pair<std::uint32_t, bool>, std::set<std::uint64_t>> starts_;
  std::size_t pidless_rows_ = 0;
};

// Finds what devices and drivers do not have of the processes in a snapshot.
class UnsupportedUsage {
 public:
  // `all`: the usages of the snapshot. What one process of a device has, the device has.
  // `requested_fields`: HMN_USAGE_HAS_* of the values that are displayed.
  UnsupportedUsage(const hypomnesis::snapshot& snapshot, const std::vector<hypomnesis::usage>& all,
                   std::uint32_t requested_fields = ~std::uint32_t{0});
  // Returns HMN_USAGE_HAS_*.
  std::uint32_t missing_fields(const hypomnesis::usage& row) const;

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> explained_;  // pid, device: with own reasons
  std::map<std::uint32_t, std::uint32_t> fields_by_device_;
};

// Returns what a table shows of a process without a name: "? other namespace", "? denied", "?".
std::string format_missing_name(const hypomnesis::usage& row);

// Shortens an id to 12 digits, as the runtimes' own commands do; a name stays as it is.
std::string shorten_container(std::string_view id);

void sort_rows(std::vector<ProcessRow>& rows, SortKey key);

struct ProcessFilter {
  std::optional<std::uint32_t> pid;
  std::vector<std::string> devices;  // as given by the user
  std::optional<std::string> match;
  std::optional<std::string> user;
};

// Returns "2 GPU processes found matching device=0 (512 MiB allocated total).". is_partial: rows
// are missing.
std::string format_count_sentence(const std::vector<ProcessRow>& rows, const ProcessFilter& filter,
                                  bool is_partial = false);

// Sum of what rows use, of any devices.
class UsageTally {
 public:
  void add(const ProcessRow& row);
  // `used`: of one pool; `is_split`: the row's host_pool_bytes are of host RAM, too.
  void add(const hypomnesis::usage& row, std::optional<std::uint64_t> used, bool is_split = false);
  // Adds to what is compared with the most that the rows of a device can have together: see
  // max_used_bytes(). `used`: of that pool.
  void add_bounded(const hypomnesis::usage& row, std::optional<std::uint64_t> used,
                   std::optional<std::uint64_t> max_bytes);
  // Records that rows may be missing.
  void set_partial() { is_partial_ = true; }

  // Returns none if no row has a value, and where the rows of a device add up to more than it can
  // be.
  std::optional<std::uint64_t> bytes() const;
  // Returns why there is no sum; empty: there is one, or no row has a value.
  std::string explain_missing() const;
  bool is_at_least() const;
  // Host RAM mapped for the devices.
  std::optional<std::uint64_t> host_bytes() const { return total(host_sums_); }
  bool is_host_at_least() const;
  // Returns whether the devices of some rows have both: memory of their own that is the host's.
  bool is_split() const { return is_split_; }
  // Returns the number of processes with a row that has no value.
  std::size_t unknown_count() const { return unknown_processes_.size(); }
  std::optional<double> busy_percent() const { return busy_percent_; }
  bool is_busy_at_least() const { return is_partial_ || lacks_busy_; }

 private:
  using Sums = std::map<std::uint32_t, UsageSum>;  // by device

  static std::optional<std::uint64_t> total(const Sums& all);
  static bool is_exact(const Sums& all);

  Sums sums_;
  Sums host_sums_;
  Sums main_sums_;  // of the pool that max_bytes_ limits
  std::map<std::uint32_t, std::uint64_t> max_bytes_;
  ProcessCount unknown_processes_;
  std::optional<double> busy_percent_;
  bool is_partial_ = false;  // rows may be missing
  bool is_lower_bound_ = false;
  bool lacks_host_ = false;
  bool is_split_ = false;
  bool lacks_busy_ = false;
};

// What usage can be grouped by; a command offers some of them.
enum class Grouping : std::uint8_t { process, user, container, pod, job, unit, device };
std::string_view grouping_word(Grouping grouping) noexcept;
Expected<Grouping> parse_grouping(std::string_view option, std::string_view text,
                                  std::span<const Grouping> choices);

// Rows of one user, container, pod, job, unit or device.
struct UsageGroup {
  std::optional<std::string> name;  // none: of a device, and of what is in no container, pod, …
  bool is_known = true;             // false: rows of which it is not known
  std::shared_ptr<const Gpu> gpu;   // of a device, else that of a row
  std::optional<std::uint32_t> uid;
  UsageTally total;
  ProcessCount processes;
  std::set<std::uint32_t> devices;
  std::vector<std::size_t> rows;  // positions, with those of repeated rows
};

// Devices whose lists of processes are missing or lack some.
struct PartialLists {
  bool all = false;
  std::set<std::uint32_t> devices;

  bool any() const { return all || !devices.empty(); }
  bool lacks(std::uint32_t device) const { return all || devices.contains(device); }
};

using RowList = std::vector<const ProcessRow*>;
RowList make_row_list(const std::vector<ProcessRow>& rows);

// Rows of a divided GPU that its partitions list as well, with the same bytes. AMD's GPU is its own
// first partition, whose processes no other lists.
class RepeatedRows {
 public:
  RepeatedRows() = default;
  explicit RepeatedRows(const RowList& all);
  void add(const hypomnesis::usage& row, const hypomnesis::device& device);
  bool contains(const hypomnesis::usage& row) const {
    return partition_users_.contains({row.pid, row.device_index});
  }
  bool contains(const ProcessRow& row) const { return contains(row.usage); }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> partition_users_;  // pid and the whole GPU
};

// Sums rows, the greatest sum first, then by name; unknown ones last. A row whose user or container
// is not known may belong to any, whose sums are then lower bounds. Rows have their users where
// they are grouped by these.
std::vector<UsageGroup> group_rows(const RowList& rows, Grouping grouping,
                                   const PartialLists& partial);

// User that --user names.
struct UserFilter {
  std::string name;
  std::optional<std::uint32_t> uid;

  bool matches(const ProcessRow& row) const;
};

// Fails for a name without a user. In a simulated machine, whose users are not of this one, only
// numbers and root have a meaning. Waits for a name until that time; then processes have to have
// it.
Expected<UserFilter> find_user(const std::string& name, bool is_simulated,
                               std::chrono::steady_clock::time_point deadline);

// Names of users, each looked up once, on a thread: they may come over a network that hangs.
class UserNames {
 public:
  using Clock = std::chrono::steady_clock;

  explicit UserNames(bool is_simulated);
  // Waits for a name that is new until that time; then, and in a simulated machine, whose users are
  // not of this one, returns the number.
  std::optional<std::string> find(const hypomnesis::usage& row, Clock::time_point deadline);

 private:
  struct SearchState;
  std::shared_ptr<SearchState> state_;  // NULL: simulated
};

}  // namespace hmn::cli
