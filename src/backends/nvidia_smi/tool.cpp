// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "backends/nvidia_smi/reply.hpp"
#include "model/compose.hpp"

namespace hmn::nvidia_smi {

result<void> tool::run(reading& r, std::string_view option, column_choice& choice,
                       function_ref<parsed(std::string_view text, bool cut)> parse,
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
    const parsed a = parse(o.output, is_cut(o));
    if (a.is_table) {
      problems = problems_of(o, a.strays);
      const bool lacks_rows = a.is_truncated || o.what == platform::outcome::kind::output_too_long;
      if (lacks_rows) problems.push_back({too_many(a.count), {}});
      return {};
    }
    refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return {};
    if (!choice.refuse(refused.field)) return *refused.why;
  }
}

template <class Row>
result<void> tool::ask(reading& r, std::string_view option, column_choice& choice,
                       answer<Row> (*parse)(std::string_view, bool), reply<Row>& out) {
  out = {};
  const auto take = [&](std::string_view text, bool cut) -> parsed {
    answer<Row> a = parse(text, cut);
    out.rows = std::move(a.rows);
    a.count = out.rows.size();
    return a;
  };
  return run(r, option, choice, take, out.problems);
}

result<void> tool::ask_gpus(reading& r, reply<gpu_row>& out) {
  return ask(r, "--query-gpu", gpu_columns_, parse_gpus, out);
}

result<void> tool::ask_apps(reading& r, reply<app_row>& out) {
  return ask(r, "--query-compute-apps", app_columns_, parse_apps, out);
}

}  // namespace hmn::nvidia_smi
