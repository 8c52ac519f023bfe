// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/amd_tool/answer.hpp"
#include "backends/shared/command_tool/command_source.hpp"

namespace hmn::amd_tool {

using command_tool::MissingFields;

// Source for one of the two commands. A reading runs it once for all values; amd-smi once more for
// the processes and, the first time, for constant data.
class AmdSource final : public command_tool::ToolSource {
 public:
  AmdSource(const Dialect& dialect, const Settings& settings, const std::string& path)
      : ToolSource(dialect.tool, settings, path), dialect_(dialect) {}

  Result<void> probe() override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                       Reading& reading) override;

 private:
  Result<void> query(Reading& reading) override;
  void expire_processes(std::uint64_t) noexcept override { processes_result_.reset(); }
  Result<void> ask_values(Reading& reading);
  Result<void> ask_readings(Reading& reading);
  // Runs a query, parses the output into `answer`, and reports the tool's other messages as
  // diagnostics.
  Result<void> run_query(std::string_view arguments, Answer& answer, Reading& reading);
  Result<void> load_processes(Reading& reading);
  void adopt_card(std::size_t index, Reading& reading);
  Text<32> find_address(const Card& card) const;
  Device read_identity(const Card& card) const;
  Result<const Card*> find_card(Slot slot, Reading& reading);
  [[nodiscard]] Failure make_absent_failure(const Card& card, Field f) const;
  [[nodiscard]] Failure make_unprinted_failure(Field field) const;
  void report(const Card& card, Field field, FieldSet bits, std::uint32_t subject, Slot slot,
              Reading& reading) const;
  void set_used(Pool& pool, const Card& card, Field used_field, Slot slot,
                Reading& reading) const;
  Result<const Card*> find_card_with_processes(Slot slot, Reading& reading);
  [[nodiscard]] Result<void> check_list_complete(const Card& card) const;
  [[nodiscard]] bool belongs_to(const ProcessRow& row, const Card& card) const;
  Usage make_usage(const ProcessRow& row, const Card& card, Slot slot, Reading& reading) const;

  const Dialect& dialect_;
  Answer identity_;
  bool is_plain_ = false;
  bool has_readings_ = false;  // the query of `readings` has succeeded before

  Answer answer_;
  std::optional<Failure> identity_failure_, readings_failure_;  // why that query failed
  std::optional<Result<void>> processes_result_;
};

}  // namespace hmn::amd_tool
