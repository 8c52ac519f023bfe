// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/command_tool/missing.hpp"
#include "backends/command_tool/program.hpp"
#include "backends/pci/bus.hpp"
#include "procfs/pids.hpp"

namespace hmn::command_tool {

// A source that a command serves: it is started once in a reading for the figures of all GPUs, and
// not at all while one of them sleeps, since it would wake them.
class tool_source : public device_source {
 public:
  source id() const noexcept override { return d_.from; }
  bool can_block() const noexcept override { return false; }  // the tool is killed at the deadline

  result<void> probe() override { return program_.find(); }
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  void close() noexcept override { forget(); }
  source_state describe(source) const override;

 protected:
  // A GPU that was seen once; its place in `known_` is its slot.
  struct known_gpu {
    device who;
    std::optional<std::size_t> row;  // of this reading
    std::optional<std::uint64_t> total;
    bool has_instances = false;  // each process stands there once for each of them
  };

  tool_source(const description& d, const settings& s, const std::string& path);

  // Asks for the figures, and adopts the GPU of each row.
  virtual result<void> ask(reading& r) = 0;
  // Drops what this reading was told of processes.
  virtual void forget_processes() noexcept = 0;

  // Asks, unless that was done in this reading.
  result<void> load(reading& r);
  [[nodiscard]] std::optional<slot> find(const device& who) const;
  // The GPU, at first sight with a new slot; null when it has a row already. What a later answer
  // leaves out stays.
  known_gpu* adopt(const device& who, std::optional<std::size_t> row);
  // The row of a GPU in this reading.
  result<std::size_t> row_of(slot number, reading& r);
  // Otherwise the tool's pids may be those of another one.
  [[nodiscard]] bool is_in_initial_pid_namespace() const {
    return procfs::is_in_initial_pid_namespace(proc_root_);
  }
  [[nodiscard]] bool is_running(std::uint32_t pid) const;

  [[nodiscard]] bool is_asleep() const noexcept { return !asleep_.empty(); }
  [[nodiscard]] failure why_asleep() const;
  [[nodiscard]] failure never_listed() const;
  [[nodiscard]] failure fail(status code, const message_text& message) const {
    return d_.fail(code, message);
  }
  static void remark(failure why, std::uint32_t about, std::uint32_t fields,
                     std::optional<slot> number, reading& r);
  void remark(const std::vector<missing>& gone, std::uint32_t about, slot number, reading& r) const;
  static void remark_use(failure why, std::uint32_t pid, slot number, reading& r);

  const std::string proc_root_;
  const std::string sys_root_;
  program program_;
  std::vector<known_gpu> known_;

 private:
  void forget() noexcept;
  void list_asleep(std::vector<device>& out);
  [[nodiscard]] bool is_same(const device& a, const device& b) const;

  const description& d_;
  const bool may_wake_;
  failure condition_;

  // Of this reading.
  std::vector<pci::gpu> asleep_;  // all of the bus, when one of them sleeps
  std::optional<result<void>> loaded_;
};

}  // namespace hmn::command_tool
