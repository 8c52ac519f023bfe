// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include <algorithm>

#include "model/scan.hpp"
#include "model/text.hpp"
#include "procfs/container.hpp"

namespace hmn::procfs {
namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "7a96d5b2_1c3f_…" in a slice's name, where a hyphen would begin another slice; a static pod has
// a hash instead.
bool is_pod_uid(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-';
  });
}

std::string_view after_last(std::string_view text, std::string_view word) noexcept {
  const auto at = text.rfind(word);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + word.size());
}

// "7a96d5b2-1c3f-…" or the hash of a static pod, as the folder of a pod has it without a slice.
bool is_whole_uid(std::string_view text) noexcept {
  return (text.size() == 36 || text.size() == 32) && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
         });
}

// Finds the uid in "kubepods-burstable-pod<uid>.slice", with "kubelet-" before it in a node that
// is a container, and ":cri-containerd:<id>" behind it without systemd's own driver; in "pod<uid>"
// below a "kubepods"; and in a whole "pod<uid>" where a control group namespace hides what is
// above.
std::string_view pod_in(std::string_view part, bool is_below_kubepods, bool is_cut) noexcept {
  std::string_view uid;
  if (part.find("kubepods") != std::string_view::npos) {
    part = part.substr(0, part.find(':'));
    if (!part.ends_with(".slice")) return {};
    part.remove_suffix(6);
    uid = after_last(part, "-pod");
  } else if ((is_below_kubepods || is_cut) && part.starts_with("pod")) {
    uid = part.substr(3);
    if (!is_below_kubepods && !is_whole_uid(uid)) return {};
  }
  return is_pod_uid(uid) ? uid : std::string_view();
}

// The folder that Slurm's jobs are in: "slurm", "slurm_<node>" (v1), "slurmstepd.scope",
// "<node>_slurmstepd.scope" (v2).
bool is_of_slurm(std::string_view part) noexcept {
  return part == "slurm" || part.starts_with("slurm_") || part == "slurmstepd.scope" ||
         part.ends_with("_slurmstepd.scope");
}

// Finds the job in "job_<number>", or where that stands since Slurm 26.05 in a SLUID: "s" and the
// letters and digits of a number.
std::string_view job_in(std::string_view part) noexcept {
  constexpr std::size_t longest_sluid = 32;
  if (part.starts_with("job_")) {
    part.remove_prefix(4);
    return is_digits(part) ? part : std::string_view();
  }
  const bool is_sluid = part.size() > 1 && part.size() <= longest_sluid &&
                        (part[0] == 's' || part[0] == 'S') &&
                        std::ranges::all_of(part, is_letter_or_digit) &&
                        std::ranges::any_of(part, [](char c) { return c >= '0' && c <= '9'; });
  return is_sluid ? part : std::string_view();
}

void take(std::string& to, std::string_view found) {
  if (to.empty() && !found.empty()) append_utf8(to, found);
}

void take_pod(std::string& to, std::string_view uid) {
  if (!to.empty() || uid.empty()) return;
  to = uid;
  std::ranges::replace(to, '_', '-');
}

void take_path(workload& to, std::string_view path) {
  std::string_view unit;
  const bool is_cut = path.starts_with("/..");
  bool is_below_kubepods = false;
  bool is_below_slurm = false;
  while (!path.empty()) {
    const std::string_view part = scan::take_until(path, '/');
    take_pod(to.pod, pod_in(part, is_below_kubepods, is_cut));
    if (is_below_slurm) take(to.job, job_in(part));
    is_below_kubepods = is_below_kubepods || part.starts_with("kubepods");
    is_below_slurm = is_below_slurm || is_of_slurm(part);
    if (part.ends_with(".service") || part.ends_with(".scope")) unit = part;
  }
  take(to.unit, unit);
}

void take_container(workload& to, std::string_view path) {
  const container in = container_of(path);
  if (!to.container.empty() || in.empty()) return;
  std::string whole;
  append_container(whole, in);
  to.runtime = in.runtime;
  to.container = whole.substr(in.runtime.size() + 1);
}

}  // namespace

workload parse_workload(std::string_view text) {
  workload found;
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    scan::take_until(path, ':');
    if (!scan::number(id) || !path.starts_with('/')) continue;
    take_container(found, path);
    take_path(found, path);
  }
  return found;
}

}  // namespace hmn::procfs
