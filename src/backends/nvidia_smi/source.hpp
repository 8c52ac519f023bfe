// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/nvidia_smi/asleep.hpp"
#include "backends/nvidia_smi/figures.hpp"
#include "backends/nvidia_smi/tool.hpp"

namespace hmn::nvidia_smi {

// One reading starts the tool once for the GPUs and once for the processes, when either is asked
// for.
class smi_source final : public device_source {
 public:
  explicit smi_source(const settings& s);

  source id() const noexcept override { return source::nvidia_smi; }
  bool can_block() const noexcept override { return false; }  // the tool is killed at the deadline

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  void close() noexcept override { forget(); }
  source_state describe() const override;

 private:
  // A GPU that was seen once; its place in `known_` is its slot.
  struct known_gpu {
    device who;
    bool mig_on = false;
    std::optional<std::uint64_t> total;
    std::optional<std::size_t> row;  // of this reading
  };

  void forget() noexcept;
  static failure why_asleep();
  result<void> load_gpus(reading& r);
  result<void> load_apps(reading& r);
  void adopt_rows(reading& r);
  void report(const std::vector<problem>& problems, std::uint32_t about, reading& r) const;
  // The slot of a GPU, given at first sight.
  slot slot_of(const device& who);
  [[nodiscard]] std::optional<slot> find(const device& who) const;
  bool adopt_row(std::size_t at, reading& r);
  result<const gpu_row*> row_of(slot number, reading& r);
  [[nodiscard]] failure why_no_row(slot number) const;
  void list_asleep(std::vector<device>& out);
  [[nodiscard]] bool is_of(const app_row& row, slot number) const;
  // The rows of one GPU, of one process when `pid` is not 0; each process once.
  result<std::vector<usage>> rows_of(slot number, std::uint32_t pid, reading& r);
  void check_use(usage& row, status why, slot number, reading& r) const;
  [[nodiscard]] failure why_unlisted(std::uint32_t pid, bool self) const;

  std::string proc_root_;
  std::string sys_root_;
  bool may_wake_;
  tool tool_;
  std::vector<known_gpu> known_;
  failure condition_;

  // Of this reading.
  std::vector<listed_gpu> asleep_;  // all of the bus, when one of them sleeps
  std::optional<result<reply<gpu_row>>> gpus_;
  std::optional<result<reply<app_row>>> apps_;
};

}  // namespace hmn::nvidia_smi
