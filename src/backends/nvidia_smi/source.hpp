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
class SmiSource final : public command_tool::ToolSource {
 public:
  explicit SmiSource(const Settings& s);

  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;

 private:
  Result<void> ask(Reading& r) override;
  void forget_processes(std::uint64_t max_age_ns) noexcept override {
    apps_loaded_.drop_older_than(max_age_ns);
  }
  Result<void> load_apps(Reading& r);
  void report(const Problem& p, Reading& r) const;
  bool adopt_row(std::size_t at, Reading& r);
  Result<const GpuRow*> gpu_of(Slot number, Reading& r);
  [[nodiscard]] bool is_of(const AppRow& row, Slot number) const;
  [[nodiscard]] Result<void> whole_list_of(Slot number) const;
  // Appends the rows of one GPU, of one process if `pid` is not 0; each process once. Fails if
  // there are none and the list is incomplete.
  Result<void> rows_of(Slot number, std::uint32_t pid, std::vector<Usage>& out, Reading& r);
  void check_use(Usage& row, Status why, Slot number, Reading& r) const;
  [[nodiscard]] Failure why_unlisted(std::uint32_t pid, bool self) const;

  Tool tool_;

  // Answers of the last runs.
  Reply<GpuRow> gpus_;
  Reply<AppRow> apps_;
  command_tool::QueryOutcome apps_loaded_;
};

}  // namespace hmn::nvidia_smi
