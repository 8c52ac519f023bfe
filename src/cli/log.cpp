// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/commands.hpp"
#include "cli/device_argument.hpp"
#include "cli/diagnostics.hpp"
#include "cli/log_line.hpp"
#include "cli/no_gpu.hpp"
#include "cli/output.hpp"
#include "cli/sampler.hpp"
#include "cli/system/interruption.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint32_t forever = std::numeric_limits<std::uint32_t>::max();

// A driver that hangs costs a sample its figures, not the log its rhythm.
std::uint32_t sample_deadline(const options& asked) {
  return std::min(asked.timeout_ms, std::max(asked.log.interval_ms, usual_deadline_ms));
}

expected<hmn_snapshot_options> samples_wanted(const context& in, const options& asked) {
  if (auto none = check_for_gpus(in, "no GPU to log: ", asked.trace)) return *std::move(none);
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY;
  what.deadline_ms = sample_deadline(asked);
  return of_one_device(in, asked.device, what);
}

std::string lines_of(const snapshot& picture, log_form form, const style& as) {
  const auto info = picture.info();
  const auto diagnostics = picture.diagnostics();
  std::string lines;
  std::uint32_t position = 0;
  for (auto& each : gpus_of(picture)) {
    const log_sample sample{info.unix_time_ns, info.monotonic_ns, std::move(each),
                            picture.telemetry(position++), &diagnostics};
    if (form == log_form::json)
      lines += log_json(sample);
    else if (form == log_form::csv)
      lines += log_csv(sample);
    else
      lines += log_text(sample, as.ascii_only);
  }
  return lines;
}

// When it is enough.
class end_of_log {
 public:
  explicit end_of_log(const log_options& asked) : asked_(asked) {}

  // How long the next sample may take.
  std::uint32_t patience_ms() const {
    if (!asked_.duration_ms || begun_ns_ == 0) return forever;
    const auto left = *asked_.duration_ms - std::min(*asked_.duration_ms, spent_ms_);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, forever));
  }
  // Whether the sample still belongs to the log.
  bool takes(const hmn_snapshot_info& sample) {
    if (begun_ns_ == 0) begun_ns_ = sample.monotonic_ns;
    spent_ms_ = (sample.monotonic_ns - begun_ns_) / ns_per_ms;
    ++taken_;
    if (!asked_.duration_ms) return true;
    // As many as intervals that begin in it, however late the first one was.
    const auto most = (*asked_.duration_ms - 1) / asked_.interval_ms + 1;
    return spent_ms_ < *asked_.duration_ms && taken_ <= most;
  }
  bool is_enough() const { return asked_.count && taken_ >= *asked_.count; }

 private:
  log_options asked_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t spent_ms_ = 0;
  std::uint64_t taken_ = 0;
};

void tell_losses(const hmn_sampler_info& of) {
  if (of.dropped_count > 0)
    write_remark(
        fmt::format("{} samples were dropped: they were not read fast enough", of.dropped_count));
  if (of.late_count > 0)
    write_remark(
        fmt::format("{} samples were left out: the ones before took too long", of.late_count));
}

write_result write_samples(sampler& from, const options& asked, const style& as) {
  end_of_log end(asked.log);
  auto last = asked.log.form == log_form::csv ? write_part(log_csv_header()) : write_result{};
  while (last == write_result::written && !end.is_enough()) {
    const auto picture = from.next(end.patience_ms());
    if (!picture || !end.takes(picture->info())) break;
    if (asked.trace) print_trace(*picture);
    last = write_part(lines_of(*picture, asked.log.form, as));
  }
  return last;
}

}  // namespace

expected<exit_code> run_log(const context& in, const options& asked, const style& as) {
  const auto what = samples_wanted(in, asked);
  if (!what) return what.why();
  auto source = sampler::start(in, asked.log.interval_ms, *what);
  if (!source) return source.why();
  const interruption stops([&source] { source->stop(); });
  const auto last = write_samples(*source, asked, as);
  tell_losses(source->info());
  return last == write_result::failed ? exit_code::failed : exit_code::done;
}

}  // namespace hmn::cli
