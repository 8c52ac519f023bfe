// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/nvidia_smi/rows.hpp"
#include "backends/nvidia_smi/tool.hpp"
#include "backends/shared/command_tool/command_source.hpp"

namespace hmn::nvidia_smi {

// Runs the tool at most once per reading for the GPUs, and once for the processes. Readings that
// accept an older answer share these runs.
class smi_source final : public command_tool::tool_source {
 public:
  explicit smi_source(const settings& s);

  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;

 private:
  result<void> ask(reading& r) override;
  void forget_processes(std::uint64_t max_age_ns) noexcept override {
    apps_loaded_.drop_older_than(max_age_ns);
  }
  result<void> load_apps(reading& r);
  void report(const problem& p, reading& r) const;
  bool adopt_row(std::size_t at, reading& r);
  result<const gpu_row*> gpu_of(slot number, reading& r);
  [[nodiscard]] bool is_of(const app_row& row, slot number) const;
  [[nodiscard]] result<void> whole_list_of(slot number) const;
  // Appends the rows of one GPU, of one process if `pid` is not 0; each process once. Fails if
  // there are none and the list is incomplete.
  result<void> rows_of(slot number, std::uint32_t pid, std::vector<usage>& out, reading& r);
  void check_use(usage& row, status why, slot number, reading& r) const;
  [[nodiscard]] failure why_unlisted(std::uint32_t pid, bool self) const;

  tool tool_;

  // Answers of the last runs.
  reply<gpu_row> gpus_;
  reply<app_row> apps_;
  command_tool::query_outcome apps_loaded_;
};

}  // namespace hmn::nvidia_smi
