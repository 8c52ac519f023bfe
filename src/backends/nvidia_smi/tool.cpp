// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "backends/nvidia_smi/reply.hpp"
#include "model/compose.hpp"

namespace hmn::nvidia_smi {
namespace {

template <class Row>
parsed take(answer<Row> a, std::vector<Row>& out, std::size_t& count) {
  out = std::move(a.rows);
  count = out.size();
  return a;
}

}  // namespace

result<void> tool::ask(reading& r, std::string_view option, column_choice& choice, row_parser parse,
                       std::vector<problem>& problems) {
  if (result<void> here = program_.find(); !here) return here;
  if (program_.was_replaced()) {
    // Columns depend on the driver version.
    gpu_columns_.reset();
    app_columns_.reset();
  }
  // Each iteration but the last removes one rejected spelling.
  for (;;) {
    const platform::outcome o =
        program_.run({compose({option, "=", choice.list()}), "--format=csv,nounits"}, false, r);
    const command_tool::verdict v(smi, o);
    if (auto why = v.why_not_run(program_.path())) return *why;
    std::size_t count = 0;
    const parsed a = parse(o.output, is_cut(o), count);
    if (a.is_table) {
      problems = problems_of(o, a.strays);
      const bool lacks_rows = a.is_truncated || o.what == platform::outcome::kind::output_too_long;
      if (lacks_rows) problems.push_back({too_many(count), {}});
      return {};
    }
    refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return {};
    if (!choice.refuse(refused.field)) return *refused.why;
  }
}

result<void> tool::ask_gpus(reading& r, reply<gpu_row>& out) {
  out = {};
  const auto parse = [&](std::string_view text, bool cut, std::size_t& count) {
    return take(parse_gpus(text, cut), out.rows, count);
  };
  return ask(r, "--query-gpu", gpu_columns_, parse, out.problems);
}

result<void> tool::ask_apps(reading& r, reply<app_row>& out) {
  out = {};
  const auto parse = [&](std::string_view text, bool cut, std::size_t& count) {
    return take(parse_apps(text, cut), out.rows, count);
  };
  return ask(r, "--query-compute-apps", app_columns_, parse, out.problems);
}

}  // namespace hmn::nvidia_smi
