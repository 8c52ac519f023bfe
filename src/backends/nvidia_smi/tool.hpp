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

extern const command_tool::description smi;

// A message or malformed row in the tool's output, such as that of a lost device.
struct problem {
  failure why;
  text<32> bus_id;  // of the device; empty: none
};

template <class Row>
struct reply {
  std::vector<Row> rows;
  std::vector<problem> problems;
};

// Runs the tool's queries, and remembers which columns it has rejected.
class tool {
 public:
  explicit tool(command_tool::program& p) : program_(p) {}

  result<void> ask_gpus(reading& r, reply<gpu_row>& out);
  result<void> ask_apps(reading& r, reply<app_row>& out);

 private:
  template <class Row>
  result<void> ask(reading& r, std::string_view option, column_choice& choice,
                   answer<Row> (*parse)(std::string_view, bool), reply<Row>& out);
  // The part that is the same for all rows; `parse` takes the rows out of a text.
  result<void> run(reading& r, std::string_view option, column_choice& choice,
                   function_ref<parsed(std::string_view text, bool cut)> parse,
                   std::vector<problem>& problems);

  command_tool::program& program_;
  column_choice gpu_columns_{gpu_spellings()};
  column_choice app_columns_{app_spellings()};
};

// A message printed in place of a table: the tool writes its errors to stdout.
struct sentence : command_tool::sentence {
  std::string field;  // unknown to the tool
  text<32> bus_id;    // of the device; empty: none
};

// Returns nothing if the line is no known message.
std::optional<sentence> parse_sentence(std::string_view line);

// Why there is no table. `why` is empty if the output was only "no devices".
struct refusal {
  std::optional<failure> why;
  std::string field;  // unknown to the tool; empty: another reason
};
refusal why_no_table(const platform::outcome& o, const stray_lines& strays);

// Returns the problems that were printed in addition to a table.
std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays);
failure too_many(std::size_t rows);

bool is_cut(const platform::outcome& o) noexcept;

}  // namespace hmn::nvidia_smi
