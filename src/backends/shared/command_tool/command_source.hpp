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

// Properties of one vendor's management command, including words of error messages.
struct ToolDescription {
  FailureFactory fail;
  std::string_view name;  // "nvidia-smi"
  std::string_view gpu;   // "an NVIDIA GPU"
  std::uint32_t vendor;
  std::string_view driver;                    // the kernel's
  std::span<const std::string_view> folders;  // searched for the program; each ends with a slash
  std::string_view absent_message;            // error if it is in none of them
  std::string_view timeout_advice = {};       // advice if it does not answer
  std::string_view file = {};                 // of the program, if it is not its name
  bool may_have_no_driver = false;            // a card without a driver may still be the tool's
  bool is_matched_by_address = false;         // the address is compared before the uuid
};

// The command's program on this machine.
class Program {
 public:
  // Without a requested path, the default folders are searched. Never PATH: whoever sets that would
  // choose the program.
  Program(const ToolDescription& description, std::string requested_path)
      : description_(description), requested_path_(std::move(requested_path)) {}

  // Checks for a program to run.
  Result<void> find();
  // Returns true once after the program's file has been replaced.
  bool was_replaced();
  // Runs it until it exits, the deadline passes or the output limit is reached.
  platform::Outcome run(std::vector<std::string> arguments, bool include_stderr,
                        Reading& reading) const;

  [[nodiscard]] const ToolDescription& description() const noexcept { return description_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const ToolDescription& description_;
  std::string requested_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

// Failures that follow from a run's exit and output, for the whole run or for missing fields.

// A message that a tool prints next to its output or in place of it.
struct ToolMessage {
  enum class Subject { tool, field, device, nothing, warning };

  // Of the line, by which it is recognized: the rest differs between versions.
  std::string_view pattern;
  Subject subject = Subject::tool;
  Status code = Status::backend;
  const char* advice;  // to the user
};

// Returns the first match; null if the line has no known message.
const ToolMessage* find_message(std::span<const ToolMessage> messages,
                                std::string_view line) noexcept;

// HMN_NATIVE_EXIT
NativeCode make_exit_code(const platform::Outcome& outcome) noexcept;

// Fields without a value, grouped by reason so that each is one diagnostic.
struct MissingFields {
  FieldSet fields = 0;
  Status code = Status::unsupported;
  MessageText message;
  Reason reason = Reason::unknown;
};

void add_missing(std::vector<MissingFields>& groups, FieldSet fields, Status code,
                 const MessageText& message, Reason reason = Reason::unknown);

class RunFailures {
 public:
  RunFailures(const ToolDescription& description, const platform::Outcome& outcome)
      : description_(description), outcome_(outcome) {}

  // Returns nothing if the program ran, with or without output.
  [[nodiscard]] std::optional<Failure> find_start_failure(std::string_view path) const;
  [[nodiscard]] Failure make_message_failure(const ToolMessage& message,
                                             std::string_view line) const;
  // Formats "<name> <problem> and exited with 7: <output>".
  [[nodiscard]] Failure make_exit_failure(std::string_view problem,
                                          std::string_view output = {}) const;

 private:
  const ToolDescription& description_;
  const platform::Outcome& outcome_;
};

// Last outcome of a query, shared by the readings that accept an older answer.
class QueryOutcome {
 public:
  const Result<void>& get_or_run(FunctionRef<Result<void>()> run);
  // Drops an outcome that is too old for a reading, so that the query runs at most once in that
  // time and takes at most half of it, or a fifth if the program was killed at its deadline. 0:
  // drops any.
  void drop_older_than(std::uint64_t max_age_ns) noexcept;
  [[nodiscard]] std::uint64_t end_ns() const noexcept { return end_ns_; }

 private:
  std::optional<Result<void>> outcome_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::uint64_t duration_ns_ = 0;
};

// A source backed by a command. It runs once per reading for the values of all GPUs, and never
// while one of them is suspended, since it would wake them.
class ToolSource : public DeviceSource {
 public:
  Result<void> probe() override { return program_.find(); }
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& devices, Reading& reading) override;
  void close() noexcept override { expire(0); }

 protected:
  // GPU that was listed before; its index in `known_gpus_` is its slot.
  struct KnownGpu {
    Device identity;
    std::optional<std::size_t> row;  // in this reading
    std::optional<std::uint64_t> total;
    bool has_instances = false;  // each process is listed once per instance
  };

  ToolSource(const ToolDescription& description, const Settings& settings, const std::string& path);

  // Queries the values, and calls find_or_add() for the GPU of each row.
  virtual Result<void> query(Reading& reading) = 0;
  // Drops processes that are older than `max_age_ns`.
  virtual void expire_processes(std::uint64_t max_age_ns) noexcept = 0;

  // Queries unless this reading already did, or accepts an older answer.
  Result<void> load(Reading& reading);
  // Time at which the values were read.
  [[nodiscard]] std::uint64_t load_end_ns() const noexcept { return query_outcome_.end_ns(); }
  [[nodiscard]] std::optional<Slot> find(const Device& device) const;
  // Returns the GPU, with a new slot if it is new; null if it already has a row. Keeps values that
  // a later answer lacks.
  KnownGpu* find_or_add(const Device& device, std::optional<std::size_t> row);
  // Finds the row of a GPU in this reading.
  Result<std::size_t> find_row(Slot slot, Reading& reading);
  // Elsewhere the tool's pids may belong to other processes.
  [[nodiscard]] bool is_in_initial_pid_namespace() const {
    return procfs::is_in_initial_pid_namespace(proc_root_);
  }
  [[nodiscard]] bool is_running(std::uint32_t pid) const;

  [[nodiscard]] bool is_asleep() const noexcept { return !sleeping_gpus_.empty(); }
  [[nodiscard]] Failure make_asleep_failure() const;
  [[nodiscard]] Failure make_not_listed_failure() const;
  static void diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields,
                       std::optional<Slot> slot, Reading& reading);
  void diagnose(const std::vector<MissingFields>& groups, std::uint32_t subject, Slot slot,
                Reading& reading) const;
  // Returns the failure of a subject without any value. If the reasons differ, each is also
  // diagnosed by field.
  Failure make_missing_failure(const std::vector<MissingFields>& groups, std::uint32_t subject,
                               Slot slot, Reading& reading) const;
  static void diagnose_usage(const Failure& failure, std::uint32_t pid, Slot slot,
                             Reading& reading);

  const FailureFactory& fail;
  const std::string proc_root_;
  const std::string sys_root_;
  const std::shared_ptr<pci::VendorCache> bus_vendors_;
  Program program_;
  std::vector<KnownGpu> known_gpus_;

 private:
  void expire(std::uint64_t max_age_ns) noexcept;
  void list_asleep(std::vector<Device>& devices);
  [[nodiscard]] bool is_same(const Device& left, const Device& right) const;

  const ToolDescription& description_;
  const bool may_wake_;

  std::vector<pci::Gpu> sleeping_gpus_;  // all on the bus, if one of them is suspended
  std::uint64_t bus_scan_ns_ = 0;        // when the bus was searched for them
  QueryOutcome query_outcome_;
};

}  // namespace hmn::command_tool
