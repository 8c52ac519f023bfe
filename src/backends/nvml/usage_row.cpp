// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/usage_row.hpp"

#include "model/compose.hpp"

namespace hmn::nvml {
namespace {

constexpr std::uint32_t figures = usage_field::used | usage_field::allocated;

void refuse_figure(const topic& t, std::uint32_t pid, status s, const char* why) {
  if (!t.wants()) return;
  const topic about{t.r, t.about, t.device, pid};
  about.remark(fail(s, why), figures);
}

void set_used(usage& out, std::uint64_t used) noexcept {
  out.used = used;
  out.allocated = used;
}

}  // namespace

void fill_usage(const topic& t, const known_device& of, const merged_process& from, usage& out) {
  out.pid = from.pid;
  out.from = source::nvml;
  out.accounting = accounting::allocated;
  out.kinds = from.kinds;
  if (from.gpu_instance != no_instance && from.compute_instance != no_instance) {
    out.instance = mig_instance{from.gpu_instance, from.compute_instance};
  } else {
    out.instance = of.identity.instance;
  }
  if (!from.used) {
    refuse_figure(t, from.pid, status::unsupported,
                  "the driver lists the process and does not tell what it uses");
  } else if (of.total && *from.used > *of.total) {
    refuse_figure(t, from.pid, status::backend,
                  "the driver tells more for the process than the device has");
  } else {
    set_used(out, *from.used);
  }
}

void fill_zero(std::uint32_t pid, usage& out) noexcept {
  out.pid = pid;
  out.from = source::nvml;
  out.accounting = accounting::allocated;
  set_used(out, 0);
}

void remark_lists(const topic& t, const list_outcome& outcome) {
  if (!t.wants()) return;
  for (const list_kind which : all_lists) {
    const auto i = static_cast<std::size_t>(which);
    const code c = outcome.results[i];
    const bool has_none =
        c == not_supported || (which == list_kind::mps && c == function_not_found);
    if (c != success && !has_none) t.remark(fail(c, outcome.names[i]));
  }
  if (outcome.missed == 0) return;
  t.remark(fail(status::limit, {outcome.missed, " more processes are listed than can be read"}), 0,
           note::partial);
}

}  // namespace hmn::nvml
