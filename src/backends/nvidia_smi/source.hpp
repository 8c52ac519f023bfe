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
  explicit SmiSource(const Settings& settings);

  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                       Reading& reading) override;

 private:
  Result<void> query(Reading& reading) override;
  void expire_processes(std::uint64_t max_age_ns) noexcept override {
    apps_outcome_.drop_older_than(max_age_ns);
  }
  Result<void> load_apps(Reading& reading);
  void report(const Problem& problem, Reading& reading) const;
  bool adopt_row(std::size_t index, Reading& reading);
  Result<const GpuRow*> find_gpu(Slot slot, Reading& reading);
  [[nodiscard]] bool belongs_to(const AppRow& row, Slot slot) const;
  [[nodiscard]] Result<void> check_list_complete(Slot slot) const;
  // Appends the rows of one GPU, of one process if `pid` is not 0; each process once. Fails if
  // there are none and the list is incomplete.
  Result<void> append_rows(Slot slot, std::uint32_t pid, std::vector<Usage>& out,
                           Reading& reading);
  void check_used(Usage& row, Status status, Slot slot, Reading& reading) const;
  [[nodiscard]] Failure make_unlisted_failure(std::uint32_t pid, bool self) const;

  Tool tool_;

  // Answers of the last runs.
  Reply<GpuRow> gpus_;
  Reply<AppRow> apps_;
  command_tool::QueryOutcome apps_outcome_;
};

}  // namespace hmn::nvidia_smi
