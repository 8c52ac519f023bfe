// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/amd_tool/answer.hpp"
#include "backends/shared/command_tool/command_source.hpp"

namespace hmn::amd_tool {

using command_tool::missing;

// Source for one of the two commands. A reading runs it once for all values; amd-smi once more for
// the processes and, the first time, for constant data.
class amd_source final : public command_tool::tool_source {
 public:
  amd_source(const dialect& d, const settings& s, const std::string& path)
      : tool_source(d.tool, s, path), d_(d) {}

  result<void> probe() override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;

 private:
  result<void> ask(reading& r) override;
  void forget_processes(std::uint64_t) noexcept override { rows_.reset(); }
  result<void> ask_values(reading& r);
  result<void> ask_readings(reading& r);
  // Runs a query, parses the output into `into`, and reports the tool's other messages as
  // diagnostics.
  result<void> put(std::string_view question, answer& into, reading& r);
  result<void> load_processes(reading& r);
  void adopt_card(std::size_t at, reading& r);
  text<32> place_of(const card& c) const;
  device identity_of(const card& c) const;
  result<const card*> card_of(slot number, reading& r);
  [[nodiscard]] failure why_absent(const card& c, field f) const;
  [[nodiscard]] failure why_unprinted(field f) const;
  void report(const card& c, field f, FieldSet bit, std::uint32_t about, slot number,
              reading& r) const;
  void use_of(pool& p, const card& c, field used, slot number, reading& r) const;
  result<const card*> card_with_processes(slot number, reading& r);
  [[nodiscard]] result<void> whole_list_of(const card& c) const;
  [[nodiscard]] bool is_of(const process_row& row, const card& c) const;
  usage usage_of(const process_row& row, const card& c, slot number, reading& r) const;

  const dialect& d_;
  answer identity_;
  bool is_plain_ = false;
  bool was_read_ = false;  // the query of `readings` has succeeded before

  answer now_;
  std::optional<failure> no_identity_, no_readings_;  // why that query failed
  std::optional<result<void>> rows_;
};

}  // namespace hmn::amd_tool
