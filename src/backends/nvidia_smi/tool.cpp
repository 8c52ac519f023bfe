// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "backends/nvidia_smi/reply.hpp"
#include "model/compose.hpp"

namespace hmn::nvidia_smi {
namespace {

template <class Row>
void take(answer<Row>& a, const platform::outcome& o, reply<Row>& out) {
  out.rows = std::move(a.rows);
  out.problems = problems_of(o, a.strays);
  const bool lacks_rows = a.is_truncated || o.what == platform::outcome::kind::output_too_long;
  if (lacks_rows) out.problems.push_back({too_many(out.rows.size()), {}});
}

}  // namespace

template <class Row>
result<void> tool::ask(reading& r, std::string_view option, column_choice& choice,
                       answer<Row> (*parse)(std::string_view, bool), reply<Row>& out) {
  out = {};
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
    answer<Row> a = parse(o.output, is_cut(o));
    if (a.is_table) {
      take(a, o, out);
      return {};
    }
    refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return {};
    if (!choice.refuse(refused.field)) return *refused.why;
  }
}

result<void> tool::ask_gpus(reading& r, reply<gpu_row>& out) {
  return ask(r, "--query-gpu", gpu_columns_, parse_gpus, out);
}

result<void> tool::ask_apps(reading& r, reply<app_row>& out) {
  return ask(r, "--query-compute-apps", app_columns_, parse_apps, out);
}

}  // namespace hmn::nvidia_smi
