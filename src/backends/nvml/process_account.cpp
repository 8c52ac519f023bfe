// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/process_account.hpp"

#include "backends/nvml/limits.hpp"

namespace hmn::nvml {
namespace {

constexpr std::uint32_t account_field = usage_field::peak_used;

// disabled: the mode is off. Anything else but success: it cannot be told.
constexpr code disabled = no_data;

code ask_mode(const topic& t, const session& s, const known_device& of) {
  if (of.is_partition() || of.mig_on) return not_supported;
  unsigned mode = 0;
  const code c = call(t, s.fn.accounting_mode, of.h, &mode);
  return c == success && mode != feature_enabled ? disabled : c;
}

void say_off(const topic& t) {
  if (!t.wants()) return;
  t.remark(fail(status::unsupported,
                "the driver keeps no account of processes: root may turn its accounting mode on, "
                "with 'nvidia-smi --accounting-mode=1'"),
           account_field);
}

void refuse(const topic& t, std::uint32_t pid, status why, const char* message) {
  if (!t.wants()) return;
  const topic about{t.r, t.about, t.device, pid};
  about.remark(fail(why, message), account_field);
}

// The driver looks among those that have ended first: what it finds of a process that it lists may
// be of its first use of the device, or of another that had the number.
void take(const topic& t, const known_device& of, const accounting_stats& found, usage& row) {
  const std::uint64_t most = found.most_memory;
  if (found.is_running == 0) {
    return refuse(t, row.pid, status::unsupported,
                  "the driver's account under this pid is of an earlier use of the device");
  }
  if (most == value_not_available) {
    return refuse(t, row.pid, status::unsupported, "the driver's account has no figure of memory");
  }
  if ((of.total && most > *of.total) || most < row.used.value_or(0)) {
    return refuse(t, row.pid, status::backend,
                  "the driver's account of the process does not fit what it holds");
  }
  row.peak_used = most;
}

}  // namespace

code read_accounts(const topic& t, const session& s, const known_device& of, bool ours,
                   std::span<usage> rows) {
  if (rows.empty() || !ours) return success;
  const code mode = ask_mode(t, s, of);
  if (mode == disabled) say_off(t);
  if (mode != success) return mode == gpu_is_lost || mode == reset_required ? mode : success;
  for (usage& row : rows) {
    accounting_stats found{};
    const code c = call(t, s.fn.account, of.h, row.pid, &found);
    if (c == gpu_is_lost || c == reset_required || c == late) return c == late ? success : c;
    if (c == success) {
      take(t, of, found, row);
    } else {
      const topic about{t.r, t.about, t.device, row.pid};
      about.missing(c, s.fn.account.name(), account_field);
    }
  }
  return success;
}

bool find_account(const topic& t, const session& s, const known_device& of, std::uint32_t pid,
                  usage& out) {
  if (ask_mode(t, s, of) != success) return false;
  accounting_stats found{};
  if (call(t, s.fn.account, of.h, pid, &found) != success) return false;
  const std::uint64_t most = found.most_memory;
  if (most == value_not_available || (of.total && most > *of.total)) return false;
  out.pid = pid;
  out.from = source::nvml;
  out.accounting = accounting::allocated;
  out.peak_used = most;
  out.counted_since_ns = found.start_us * ns_per_us;
  return true;
}

}  // namespace hmn::nvml
