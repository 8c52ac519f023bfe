// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/shared/pci/pci.hpp"
#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "model/message_text.hpp"
#include "platform/subprocess.hpp"
#include "procfs/tree.hpp"
#include "source/interface.hpp"

namespace hmn::command_tool {

// What differs between the vendors' management commands, including words of error messages.
struct description {
  failure_of fail;
  std::string_view name;  // "nvidia-smi"
  std::string_view gpu;   // "an NVIDIA GPU"
  std::uint32_t vendor;
  std::string_view driver;                    // the kernel's
  std::span<const std::string_view> folders;  // searched for the program; each ends with a slash
  std::string_view absent;                    // error if it is in none of them
  std::string_view when_late = {};            // advice if it does not answer
  std::string_view file = {};                 // of the program, if it is not its name
  bool may_have_no_driver = false;            // a card without a driver may still be the tool's
  bool is_known_by_place = false;             // the address is compared before the uuid
};

// The command's program on this machine.
class program {
 public:
  // Without a wanted path, the default folders are searched. Never PATH: whoever sets that would
  // choose the program.
  program(const description& d, std::string wanted_path)
      : d_(d), wanted_path_(std::move(wanted_path)) {}

  // Checks for a program to run.
  result<void> find();
  // Returns true once after the program's file has been replaced.
  bool was_replaced();
  // Runs it until it exits, the deadline passes or the output limit is reached.
  platform::outcome run(std::vector<std::string> arguments, bool with_errors, reading& r) const;

  [[nodiscard]] const description& what() const noexcept { return d_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const description& d_;
  std::string wanted_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

// What a run's exit and output mean: for the whole, and for fields that it left out.

// A message that a tool prints next to its output or in place of it.
struct sentence {
  enum class about { tool, field, device, nothing, warning };

  std::string_view
      part;  // of the line, by which it is recognized: the rest differs between versions
  about what = about::tool;
  status code = status::backend;
  const char* advice;  // to the user
};

// Returns the first match; null if the line is no known sentence.
const sentence* find_sentence(std::span<const sentence> known, std::string_view line) noexcept;

// HMN_NATIVE_EXIT
native_code exit_of(const platform::outcome& o) noexcept;

// Fields without a value, grouped by reason so that each is one diagnostic.
struct missing {
  FieldSet fields = 0;
  status code = status::unsupported;
  message_text message;
  reason stated = reason::unknown;
};

void add_missing(std::vector<missing>& to, FieldSet fields, status code,
                 const message_text& message, reason stated = reason::unknown);

class verdict {
 public:
  verdict(const description& d, const platform::outcome& o) : d_(d), o_(o) {}

  // Returns nothing if the program ran, with or without output.
  [[nodiscard]] std::optional<failure> why_not_run(std::string_view path) const;
  [[nodiscard]] failure of_sentence(const sentence& s, std::string_view line) const;
  // Formats "<name> <what> and exited with 7: <said>".
  [[nodiscard]] failure of_exit(std::string_view what, std::string_view said = {}) const;

 private:
  const description& d_;
  const platform::outcome& o_;
};

// The last outcome of a query, which readings that accept an older answer share.
class query_outcome {
 public:
  const result<void>& get(function_ref<result<void>()> run);
  // Drops an outcome that is too old for a reading, so that the query runs at most once in that
  // time, and for at most half of it; a program that was killed at its deadline, for at most a
  // fifth. 0: drops any.
  void drop_older_than(std::uint64_t max_age_ns) noexcept;
  [[nodiscard]] std::uint64_t ended_ns() const noexcept { return ended_ns_; }

 private:
  std::optional<result<void>> outcome_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
  std::uint64_t took_ns_ = 0;
};

// A source backed by a command. It runs once per reading for the values of all GPUs, and never
// while one of them is suspended, since it would wake them.
class tool_source : public device_source {
 public:
  result<void> probe() override { return program_.find(); }
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  void close() noexcept override { forget(0); }

 protected:
  // A GPU seen before; its index in `known_` is its slot.
  struct known_gpu {
    device who;
    std::optional<std::size_t> row;  // in this reading
    std::optional<std::uint64_t> total;
    bool has_instances = false;  // each process is listed once per instance
  };

  tool_source(const description& d, const settings& s, const std::string& path);

  // Queries the values, and calls adopt() for the GPU of each row.
  virtual result<void> ask(reading& r) = 0;
  // Drops processes that are older than `max_age_ns`.
  virtual void forget_processes(std::uint64_t max_age_ns) noexcept = 0;

  // Queries unless this reading already did, or accepts an older answer.
  result<void> load(reading& r);
  // Time at which the values were read.
  [[nodiscard]] std::uint64_t loaded_ns() const noexcept { return loaded_.ended_ns(); }
  [[nodiscard]] std::optional<slot> find(const device& who) const;
  // Returns the GPU, which gets a new slot if it is new; null if it already has a row. Keeps what a
  // later answer leaves out.
  known_gpu* adopt(const device& who, std::optional<std::size_t> row);
  // Finds the row of a GPU in this reading.
  result<std::size_t> row_of(slot number, reading& r);
  // Elsewhere the tool's pids may belong to other processes.
  [[nodiscard]] bool is_in_initial_pid_namespace() const {
    return procfs::is_in_initial_pid_namespace(proc_root_);
  }
  [[nodiscard]] bool is_running(std::uint32_t pid) const;

  [[nodiscard]] bool is_asleep() const noexcept { return !asleep_.empty(); }
  [[nodiscard]] failure why_asleep() const;
  [[nodiscard]] failure never_listed() const;
  static void diagnose(const failure& why, std::uint32_t about, FieldSet fields,
                       std::optional<slot> number, reading& r);
  void diagnose(const std::vector<missing>& gone, std::uint32_t about, slot number,
                reading& r) const;
  // Failure of a subject of which everything is missing. If the reasons differ, each is also
  // diagnosed by field.
  failure why_nothing(const std::vector<missing>& gone, std::uint32_t about, slot number,
                      reading& r) const;
  static void diagnose_use(const failure& why, std::uint32_t pid, slot number, reading& r);

  const failure_of& fail;
  const std::string proc_root_;
  const std::string sys_root_;
  const std::shared_ptr<pci::known_vendors> on_bus_;
  program program_;
  std::vector<known_gpu> known_;

 private:
  void forget(std::uint64_t max_age_ns) noexcept;
  void list_asleep(std::vector<device>& out);
  [[nodiscard]] bool is_same(const device& a, const device& b) const;

  const description& d_;
  const bool may_wake_;

  std::vector<pci::gpu> asleep_;  // all on the bus, if one of them is suspended
  std::uint64_t looked_ns_ = 0;   // when the bus was searched for them
  query_outcome loaded_;
};

}  // namespace hmn::command_tool
