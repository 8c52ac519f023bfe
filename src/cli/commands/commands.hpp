// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/commands/options.hpp"
#include "cli/expected.hpp"
#include "cli/handles.hpp"
#include "cli/text/terminal.hpp"

// One file each.
namespace hmn::cli {

expected<exit_code> run_summary(const context& in, const options& asked, const style& as);
expected<exit_code> run_ps(const context& in, const options& asked, const style& as);
expected<exit_code> run_snapshot(const context& in, const options& asked, const style& as);
expected<exit_code> run_record_machine(const context& in, const options& asked, const style& as);
expected<exit_code> run_doctor(const context& in, const options& asked, const style& as);

expected<exit_code> run_log(const context& in, const options& asked, const style& as);
expected<exit_code> run_fit(const context& in, const options& asked, const style& as);
expected<exit_code> run_metrics(const context& in, const options& asked, const style& as);
expected<exit_code> run_run(const context& in, const options& asked, const style& as);
expected<exit_code> run_spill(const context& in, const options& asked, const style& as);
expected<exit_code> run_watch(const context& in, const options& asked, const style& as);
expected<exit_code> run_wait(const context& in, const options& asked, const style& as);

}  // namespace hmn::cli
