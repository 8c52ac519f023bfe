// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/metric_text.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::status_code;

expected<hypomnesis::snapshot_options> wanted(const session& in, const options& asked) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::metrics;
  what.slow = asked.slow;
  if (!asked.device) return what;
  const waiting_notice notice;
  return of_one_device(in, asked.device, what);
}

std::vector<gpu_metrics> metrics_of(const session& in, const hypomnesis::snapshot& picture) {
  std::vector<gpu_metrics> all;
  for (auto& each : gpus_of(in, picture)) all.push_back({std::move(each), {}, {}});
  const auto of = [&all](device_index index) {
    return std::find_if(all.begin(), all.end(),
                        [index](const auto& each) { return each.on.device.index == index; });
  };
  for (auto& each : picture.metrics())
    if (const auto found = of(each.device_index); found != all.end())
      found->metrics.push_back(std::move(each));
  for (const auto& each : picture.diagnostics()) {
    if (is_trace(each) || !is_of_metrics(each)) continue;
    if (const auto found = of(*each.device_index); found != all.end())
      found->missing.push_back(each);
  }
  return all;
}

std::string tables_of(const std::vector<gpu_metrics>& all, bool with_unsupported, const style& as) {
  std::string text;
  for (const auto& each : all)
    text.append(text.empty() ? "" : "\n").append(metric_table(each, with_unsupported, as));
  return text;
}

// Of the metrics themselves the output tells.
void print_remarks(const session& in, const hypomnesis::snapshot& picture) {
  const bool none = picture.info().device_count == 0;
  const bool told = none && !search_failed(picture);
  auto diagnostics = picture.diagnostics();
  std::erase_if(diagnostics, [=](const hypomnesis::diagnostic& each) {
    return !matters(each) || (!none && is_of_metrics(each)) ||
           (told && each.status == status_code::no_source);
  });
  for (const auto& line : distinct_lines(diagnostics)) write_remark(line);
  if (told) write_remark("GPU: " + why_no_gpu(in, picture));
}

}  // namespace

expected<exit_code> run_metrics(const session& in, const options& asked, const style& as) {
  const auto what = wanted(in, asked);
  if (!what) return what.why();
  const auto picture = in.collect(*what);
  const auto all = metrics_of(in, picture);
  print_remarks(in, picture);
  const auto result = search_failed(picture) ? exit_code::failed : exit_code::done;
  return std::max(
      result, write_output(asked.json ? metric_json(all) : tables_of(all, asked.unsupported, as)));
}

}  // namespace hmn::cli
