// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/look.hpp"

#include "cli/system/waiting_notice.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

constexpr hmn_flags of_host = HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM;

hmn_snapshot_options without_figures(hmn_snapshot_options what) {
  what.collect = (what.collect & of_host) | HMN_COLLECT_DEVICES;
  return what;
}

}  // namespace

expected<snapshot> look(const context& in, const hmn_snapshot_options& what, bool trace) {
  const waiting_notice notice;
  auto picture = in.take(without_figures(what));
  if (picture && trace) print_trace(*picture);
  const bool nothing_to_add =
      !picture || (picture->info().device_count == 0 && what.collect != everything);
  if (nothing_to_add) return picture;
  picture = in.take(what);
  if (picture && trace) print_trace(*picture);
  return picture;
}

}  // namespace hmn::cli
