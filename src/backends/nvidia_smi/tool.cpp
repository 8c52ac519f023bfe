// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "backends/nvidia_smi/reply.hpp"
#include "model/compose.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/subprocess.hpp"

namespace hmn::nvidia_smi {
namespace {

// Never PATH: whoever sets it would choose the program.
constexpr std::string_view known_paths[] = {
    "/usr/bin/nvidia-smi",
    "/usr/local/bin/nvidia-smi",
    "/bin/nvidia-smi",
    "/usr/lib/wsl/lib/nvidia-smi",
    "/opt/bin/nvidia-smi",
    "/run/current-system/sw/bin/nvidia-smi",
    "/usr/local/nvidia/bin/nvidia-smi",
};

constexpr std::size_t output_cap = 4U << 20;

failure not_here(std::string message) {
  return {status::no_source, source::nvidia_smi, {}, std::move(message)};
}

void trace(reading& r, const platform::command& c, const platform::outcome& o,
           std::uint64_t duration) {
  std::string line = c.path;
  for (const std::string& argument : c.arguments) line += " " + argument;
  diagnostic d;
  d.why = {status::ok, source::nvidia_smi, exit_of(o), std::move(line)};
  d.notes = note::trace;
  d.duration_ns = duration;
  r.remark(std::move(d));
}

template <class Row>
reply<Row> reply_of(answer<Row> a, const platform::outcome& o) {
  reply<Row> r{std::move(a.rows), problems_of(o, a.strays), a.is_truncated};
  if (o.what == platform::outcome::kind::output_too_long) r.is_truncated = true;
  if (!r.is_truncated) return r;
  const std::string message =
      compose({"nvidia-smi printed more rows than the ", r.rows.size(), " that are read"});
  r.problems.push_back({{status::limit, source::nvidia_smi, {}, message}, {}});
  return r;
}

platform::outcome run(reading& r, const platform::command& c) {
  const std::uint64_t begun = platform::monotonic_ns();
  platform::outcome o = platform::run(c);
  if (r.wants_trace()) trace(r, c, o, platform::monotonic_ns() - begun);
  return o;
}

}  // namespace

result<void> tool::find() {
  path_.clear();
  if (!wanted_path_.empty() && !wanted_path_.starts_with('/')) {
    return not_here(
        compose({"the path of nvidia-smi must be absolute, \"", wanted_path_, "\" is not"}));
  }
  if (!wanted_path_.empty()) {
    if (!platform::is_executable_file(wanted_path_.c_str())) {
      return not_here(compose({wanted_path_, " is no program that can be run"}));
    }
    path_ = wanted_path_;
    return {};
  }
  for (const std::string_view path : known_paths) {
    if (!platform::is_executable_file(path.data())) continue;
    path_ = path;
    return {};
  }
  return not_here("nvidia-smi is in none of its usual folders; it comes with the NVIDIA driver");
}

// Another driver, another set of columns.
void tool::forget_when_replaced() {
  const auto now = platform::status_of(path_.c_str());
  if (!now || (now.value.device == device_ && now.value.inode == inode_)) return;
  device_ = now.value.device;
  inode_ = now.value.inode;
  gpu_columns_.reset();
  app_columns_.reset();
}

template <class Row>
result<reply<Row>> tool::ask(reading& r, std::string_view option, column_choice& choice,
                             answer<Row> (*parse)(std::string_view, bool)) {
  if (result<void> here = find(); !here) return std::move(here.why());
  forget_when_replaced();
  // Each turn but the last takes one spelling out of the choice.
  for (;;) {
    const std::string query = compose({option, "=", choice.list()});
    const platform::command c{path_, {query, "--format=csv,nounits"}, r.deadline_ns(), output_cap};
    const platform::outcome o = run(r, c);
    if (auto why = why_no_answer(o, path_)) return std::move(*why);
    answer<Row> a = parse(o.output, is_cut(o));
    if (a.is_table) return reply_of(std::move(a), o);
    refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return reply<Row>();
    if (!choice.refuse(refused.field)) return std::move(*refused.why);
  }
}

result<reply<gpu_row>> tool::ask_gpus(reading& r) {
  return ask(r, "--query-gpu", gpu_columns_, parse_gpus);
}

result<reply<app_row>> tool::ask_apps(reading& r) {
  return ask(r, "--query-compute-apps", app_columns_, parse_apps);
}

}  // namespace hmn::nvidia_smi
