// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/device_argument.hpp"
#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/gpu.hpp"
#include "cli/look.hpp"
#include "cli/metric_text.hpp"
#include "cli/no_gpu.hpp"
#include "cli/output.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

expected<hmn_snapshot_options> metrics_wanted(const context& in, const options& asked) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_METRICS;
  if (asked.slow) what.flags = HMN_SNAPSHOT_SLOW;
  if (!asked.device) return what;
  const waiting_notice notice;
  return of_one_device(in, asked.device, what);
}

std::vector<gpu_metrics> metrics_of(const snapshot& picture) {
  std::vector<gpu_metrics> all;
  for (auto& each : gpus_of(picture)) all.push_back({std::move(each), {}, {}});
  const auto of = [&all](device_index index) {
    return std::find_if(all.begin(), all.end(),
                        [index](const auto& each) { return each.on.device.index == index; });
  };
  const auto metrics = picture.metrics();
  for (std::uint32_t position = 0; position < metrics.size(); ++position)
    if (const auto found = of(metrics[position].device_index); found != all.end())
      found->metrics.push_back({metrics[position], picture.text(HMN_TEXT_METRIC_GROUP, position)});
  for (const auto& each : picture.diagnostics()) {
    if (is_trace(each) || !is_of_metrics(each)) continue;
    if (const auto found = of(each.device_index); found != all.end())
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
void print_remarks(const context& in, const snapshot& picture) {
  const bool none = picture.info().device_count == 0;
  const bool told = none && !search_failed(picture);
  auto diagnostics = picture.diagnostics();
  std::erase_if(diagnostics, [=](const hmn_diagnostic& each) {
    return !matters(each) || (!none && is_of_metrics(each)) ||
           (told && each.status == HMN_E_NO_SOURCE);
  });
  for (const auto& line : distinct_lines(diagnostics)) write_remark(line);
  if (told) write_remark("GPU: " + why_no_gpu(in, picture));
}

}  // namespace

expected<exit_code> run_metrics(const context& in, const options& asked, const style& as) {
  const auto what = metrics_wanted(in, asked);
  if (!what) return what.why();
  const auto picture = look(in, *what, asked.trace);
  if (!picture) return picture.why();
  const auto all = metrics_of(*picture);
  print_remarks(in, *picture);
  const auto result = search_failed(*picture) ? exit_code::failed : exit_code::done;
  return std::max(
      result, write_output(asked.json ? metric_json(all) : tables_of(all, asked.unsupported, as)));
}

}  // namespace hmn::cli
