// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands.hpp"
#include "cli/diagnostics.hpp"
#include "cli/output.hpp"
#include "cli/waiting_notice.hpp"

namespace hmn::cli {
namespace {

constexpr hmn_flags everything = HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM | HMN_COLLECT_DEVICES |
                                 HMN_COLLECT_POOLS | HMN_COLLECT_SELF | HMN_COLLECT_PROCESSES |
                                 HMN_COLLECT_TELEMETRY;

expected<snapshot> look(const context& in) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = everything;
  const waiting_notice notice;
  return in.take(what);
}

}  // namespace

expected<exit_code> run_snapshot(const context& in, const options& asked, const style&) {
  const auto picture = look(in);
  if (!picture) return picture.why();
  if (asked.trace) print_trace(*picture);
  const auto text = picture->json();
  if (!text) return text.why();
  return write_output(*text + "\n");
}

}  // namespace hmn::cli
