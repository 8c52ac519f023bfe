// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/amd_tool/answer.hpp"
#include "backends/shared/command_tool/command_source.hpp"

namespace hmn::amd_tool {

using command_tool::Missing;

// Source for one of the two commands. A reading runs it once for all values; amd-smi once more for
// the processes and, the first time, for constant data.
class AmdSource final : public command_tool::ToolSource {
 public:
  AmdSource(const Dialect& d, const Settings& s, const std::string& path)
      : ToolSource(d.tool, s, path), d_(d) {}

  Result<void> probe() override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;

 private:
  Result<void> ask(Reading& r) override;
  void forget_processes(std::uint64_t) noexcept override { rows_.reset(); }
  Result<void> ask_values(Reading& r);
  Result<void> ask_readings(Reading& r);
  // Runs a query, parses the output into `into`, and reports the tool's other messages as
  // diagnostics.
  Result<void> put(std::string_view question, Answer& into, Reading& r);
  Result<void> load_processes(Reading& r);
  void adopt_card(std::size_t at, Reading& r);
  Text<32> place_of(const Card& c) const;
  Device identity_of(const Card& c) const;
  Result<const Card*> card_of(Slot number, Reading& r);
  [[nodiscard]] Failure why_absent(const Card& c, Field f) const;
  [[nodiscard]] Failure why_unprinted(Field f) const;
  void report(const Card& c, Field f, FieldSet bit, std::uint32_t about, Slot number,
              Reading& r) const;
  void use_of(Pool& p, const Card& c, Field used, Slot number, Reading& r) const;
  Result<const Card*> card_with_processes(Slot number, Reading& r);
  [[nodiscard]] Result<void> whole_list_of(const Card& c) const;
  [[nodiscard]] bool is_of(const ProcessRow& row, const Card& c) const;
  Usage usage_of(const ProcessRow& row, const Card& c, Slot number, Reading& r) const;

  const Dialect& d_;
  Answer identity_;
  bool is_plain_ = false;
  bool was_read_ = false;  // the query of `readings` has succeeded before

  Answer now_;
  std::optional<Failure> no_identity_, no_readings_;  // why that query failed
  std::optional<Result<void>> rows_;
};

}  // namespace hmn::amd_tool
