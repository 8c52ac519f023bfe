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
struct Description {
  FailureOf fail;
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
class Program {
 public:
  // Without a wanted path, the default folders are searched. Never PATH: whoever sets that would
  // choose the program.
  Program(const Description& d, std::string wanted_path)
      : d_(d), wanted_path_(std::move(wanted_path)) {}

  // Checks for a program to run.
  Result<void> find();
  // Returns true once after the program's file has been replaced.
  bool was_replaced();
  // Runs it until it exits, the deadline passes or the output limit is reached.
  platform::Outcome run(std::vector<std::string> arguments, bool with_errors, Reading& r) const;

  [[nodiscard]] const Description& what() const noexcept { return d_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const Description& d_;
  std::string wanted_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

// What a run's exit and output mean: for the whole, and for fields that it left out.

// A message that a tool prints next to its output or in place of it.
struct Sentence {
  enum class About { tool, field, device, nothing, warning };

  std::string_view
      part;  // of the line, by which it is recognized: the rest differs between versions
  About what = About::tool;
  Status code = Status::backend;
  const char* advice;  // to the user
};

// Returns the first match; null if the line is no known sentence.
const Sentence* find_sentence(std::span<const Sentence> known, std::string_view line) noexcept;

// HMN_NATIVE_EXIT
NativeCode exit_of(const platform::Outcome& o) noexcept;

// Fields without a value, grouped by reason so that each is one diagnostic.
struct Missing {
  FieldSet fields = 0;
  Status code = Status::unsupported;
  MessageText message;
  Reason stated = Reason::unknown;
};

void add_missing(std::vector<Missing>& to, FieldSet fields, Status code, const MessageText& message,
                 Reason stated = Reason::unknown);

class Verdict {
 public:
  Verdict(const Description& d, const platform::Outcome& o) : d_(d), o_(o) {}

  // Returns nothing if the program ran, with or without output.
  [[nodiscard]] std::optional<Failure> why_not_run(std::string_view path) const;
  [[nodiscard]] Failure of_sentence(const Sentence& s, std::string_view line) const;
  // Formats "<name> <what> and exited with 7: <said>".
  [[nodiscard]] Failure of_exit(std::string_view what, std::string_view said = {}) const;

 private:
  const Description& d_;
  const platform::Outcome& o_;
};

// The last outcome of a query, which readings that accept an older answer share.
class QueryOutcome {
 public:
  const Result<void>& get(FunctionRef<Result<void>()> run);
  // Drops an outcome that is too old for a reading, so that the query runs at most once in that
  // time, and for at most half of it; a program that was killed at its deadline, for at most a
  // fifth. 0: drops any.
  void drop_older_than(std::uint64_t max_age_ns) noexcept;
  [[nodiscard]] std::uint64_t ended_ns() const noexcept { return ended_ns_; }

 private:
  std::optional<Result<void>> outcome_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
  std::uint64_t took_ns_ = 0;
};

// A source backed by a command. It runs once per reading for the values of all GPUs, and never
// while one of them is suspended, since it would wake them.
class ToolSource : public DeviceSource {
 public:
  Result<void> probe() override { return program_.find(); }
  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  void close() noexcept override { forget(0); }

 protected:
  // A GPU seen before; its index in `known_` is its slot.
  struct KnownGpu {
    Device who;
    std::optional<std::size_t> row;  // in this reading
    std::optional<std::uint64_t> total;
    bool has_instances = false;  // each process is listed once per instance
  };

  ToolSource(const Description& d, const Settings& s, const std::string& path);

  // Queries the values, and calls adopt() for the GPU of each row.
  virtual Result<void> ask(Reading& r) = 0;
  // Drops processes that are older than `max_age_ns`.
  virtual void forget_processes(std::uint64_t max_age_ns) noexcept = 0;

  // Queries unless this reading already did, or accepts an older answer.
  Result<void> load(Reading& r);
  // Time at which the values were read.
  [[nodiscard]] std::uint64_t loaded_ns() const noexcept { return loaded_.ended_ns(); }
  [[nodiscard]] std::optional<Slot> find(const Device& who) const;
  // Returns the GPU, which gets a new slot if it is new; null if it already has a row. Keeps what a
  // later answer leaves out.
  KnownGpu* adopt(const Device& who, std::optional<std::size_t> row);
  // Finds the row of a GPU in this reading.
  Result<std::size_t> row_of(Slot number, Reading& r);
  // Elsewhere the tool's pids may belong to other processes.
  [[nodiscard]] bool is_in_initial_pid_namespace() const {
    return procfs::is_in_initial_pid_namespace(proc_root_);
  }
  [[nodiscard]] bool is_running(std::uint32_t pid) const;

  [[nodiscard]] bool is_asleep() const noexcept { return !asleep_.empty(); }
  [[nodiscard]] Failure why_asleep() const;
  [[nodiscard]] Failure never_listed() const;
  static void diagnose(const Failure& why, std::uint32_t about, FieldSet fields,
                       std::optional<Slot> number, Reading& r);
  void diagnose(const std::vector<Missing>& gone, std::uint32_t about, Slot number,
                Reading& r) const;
  // Failure of a subject of which everything is missing. If the reasons differ, each is also
  // diagnosed by field.
  Failure why_nothing(const std::vector<Missing>& gone, std::uint32_t about, Slot number,
                      Reading& r) const;
  static void diagnose_use(const Failure& why, std::uint32_t pid, Slot number, Reading& r);

  const FailureOf& fail;
  const std::string proc_root_;
  const std::string sys_root_;
  const std::shared_ptr<pci::KnownVendors> on_bus_;
  Program program_;
  std::vector<KnownGpu> known_;

 private:
  void forget(std::uint64_t max_age_ns) noexcept;
  void list_asleep(std::vector<Device>& out);
  [[nodiscard]] bool is_same(const Device& a, const Device& b) const;

  const Description& d_;
  const bool may_wake_;

  std::vector<pci::Gpu> asleep_;  // all on the bus, if one of them is suspended
  std::uint64_t looked_ns_ = 0;   // when the bus was searched for them
  QueryOutcome loaded_;
};

}  // namespace hmn::command_tool
