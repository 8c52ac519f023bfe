// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Interpretation of the tool's exit and output.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/rows.hpp"
#include "backends/nvidia_smi/table.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/function_ref.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

extern const command_tool::ToolDescription smi;

// A message or malformed row in the tool's output, such as that of a lost device.
struct Problem {
  Failure failure;
  Text<32> bus_id;  // of the device; empty: none
};

template <class Row>
struct Reply {
  std::vector<Row> rows;
  std::vector<Problem> problems;
};

// Runs the tool's queries, and remembers which columns it has rejected.
class Tool {
 public:
  explicit Tool(command_tool::Program& program) : program_(program) {}

  Result<void> query_gpus(Reading& reading, Reply<GpuRow>& out);
  Result<void> query_apps(Reading& reading, Reply<AppRow>& out);

 private:
  template <class Row>
  Result<void> run_query(Reading& reading, std::string_view option, ColumnChoice& choice,
                         Answer<Row> (*parse)(std::string_view, bool), Reply<Row>& out);
  // Part common to all kinds of rows; `parse` extracts the rows from a text.
  Result<void> run(Reading& reading, std::string_view option, ColumnChoice& choice,
                   FunctionRef<ParseResult(std::string_view text, bool cut)> parse,
                   std::vector<Problem>& problems);

  command_tool::Program& program_;
  ColumnChoice gpu_columns_{gpu_spellings()};
  ColumnChoice app_columns_{app_spellings()};
};

// A message printed in place of a table: the tool writes its errors to stdout.
struct Sentence : command_tool::ToolMessage {
  std::string field;  // unknown to the tool
  Text<32> bus_id;    // of the device; empty: none
};

// Returns nothing if the line is no known message.
std::optional<Sentence> parse_sentence(std::string_view line);

// Why there is no table. `why` is empty if the output was only "no devices".
struct Refusal {
  std::optional<Failure> failure;
  std::string field;  // unknown to the tool; empty: another reason
};
Refusal explain_no_table(const platform::Outcome& outcome, const StrayLines& strays);

// Returns the problems that were printed in addition to a table.
std::vector<Problem> collect_problems(const platform::Outcome& outcome, const StrayLines& strays);
Failure make_too_many_failure(std::size_t rows);

bool is_cut(const platform::Outcome& outcome) noexcept;

}  // namespace hmn::nvidia_smi
