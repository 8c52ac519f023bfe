// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli {

// What a device's list says of one process.
struct process_figures {
  std::uint32_t pid = 0;
  std::optional<std::string> name;
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> start;  // process_start
  bool is_foreign = false;             // pid is one of another PID namespace
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> shared;
};

// idle: it lives, and uses nothing of the device; unknown: whether it lives cannot be asked
enum class process_life { uses, idle, exited, unknown };

// The history of one figure.
struct figure_history {
  std::optional<std::uint64_t> baseline;
  std::optional<std::uint64_t> last;
  std::optional<std::uint64_t> peak;

  // The change since the last one; nothing without either.
  std::optional<std::int64_t> add(std::optional<std::uint64_t> now);
  bool has_grown_by(std::uint64_t bytes) const { return last && *last >= *baseline + bytes; }
};

struct watched_process {
  std::uint32_t pid = 0;
  std::optional<std::string> name;  // the last one known
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> start;
  bool is_foreign = false;
  figure_history used;
  figure_history shared;
  bool was_hinted = false;
};

// One process in one sample.
struct watched_row {
  std::uint32_t pid = 0;
  process_life life = process_life::uses;
  std::optional<std::string> name;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> shared;
  std::optional<std::int64_t> used_delta;
  std::optional<std::int64_t> shared_delta;
  std::string remark;  // for people; mostly empty
};

// All processes that were ever followed, in the order in which they were first seen; of more than
// that many the first that is not followed any more is forgotten.
class watched {
 public:
  static constexpr std::size_t most = 4096;

  watched_row add(const process_figures& now);
  // Whose pid the device's list does not have; `start`: of the process that has that pid now.
  watched_row add_absent(std::uint32_t pid, bool lives, std::optional<std::uint64_t> start);
  void forget_beyond(const std::vector<std::uint32_t>& followed);

  const std::vector<watched_process>& all() const { return all_; }
  std::uint64_t forgotten() const { return forgotten_; }
  std::optional<std::string> name_of(std::uint32_t pid) const;

 private:
  watched_process& of(std::uint32_t pid);

  std::vector<watched_process> all_;
  std::uint64_t forgotten_ = 0;
};

// The pids that use most: by use, then name, then pid.
std::vector<std::uint32_t> choose_top(std::vector<process_figures> rows, std::uint32_t count);

}  // namespace hmn::cli
