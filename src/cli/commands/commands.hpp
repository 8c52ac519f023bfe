// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/commands/options.hpp"
#include "cli/expected.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/terminal.hpp"

// Subcommands, one file each.
namespace hmn::cli {

expected<exit_code> run_summary(const session& in, const options& asked, const style& as);
expected<exit_code> run_ps(const session& in, const options& asked, const style& as);
expected<exit_code> run_snapshot(const session& in, const options& asked, const style& as);
expected<exit_code> run_record_machine(const session& in, const options& asked, const style& as);
expected<exit_code> run_doctor(const session& in, const options& asked, const style& as);

expected<exit_code> run_log(const session& in, const options& asked, const style& as);
expected<exit_code> run_fit(const session& in, const options& asked, const style& as);
expected<exit_code> run_metrics(const session& in, const options& asked, const style& as);
expected<exit_code> run_run(const session& in, const options& asked, const style& as);
expected<exit_code> run_spill(const session& in, const options& asked, const style& as);
expected<exit_code> run_watch(const session& in, const options& asked, const style& as);
expected<exit_code> run_top(const session& in, const options& asked, const style& as);
expected<exit_code> run_wait(const session& in, const options& asked, const style& as);

}  // namespace hmn::cli
