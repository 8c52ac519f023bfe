// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include <algorithm>

#include "model/character.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::procfs {
namespace {

constexpr std::size_t id_length = 64;

struct RuntimeAlias {
  std::string_view prefix;
  std::string_view runtime;
};

// Names before "-<id>.scope", and the folders that hold bare ids.
constexpr RuntimeAlias runtimes[] = {{"cri-containerd", "containerd"},
                                     {"libpod", "podman"},
                                     {"libpod_parent", "podman"},
                                     {"crio", "cri-o"}};

// Names before that of a virtual machine.
constexpr RuntimeAlias machines[] = {
    {"systemd-nspawn@", "systemd-nspawn"}, {"machine-", "machine"}, {"lxc.payload.", "lxc"}};

std::string_view find_runtime(std::string_view prefix) noexcept {
  for (const RuntimeAlias& alias : runtimes) {
    if (alias.prefix == prefix) return alias.runtime;
  }
  return prefix;
}

bool is_id(std::string_view text) noexcept {
  return text.size() == id_length && std::ranges::all_of(text, is_lower_hex_digit);
}

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

Container make_container(std::string_view prefix, std::string_view id) noexcept {
  if (prefix.ends_with("conmon")) return {};
  return {prefix.empty() ? "container" : find_runtime(prefix), id};
}

// A folder named by the id alone: the runtime is in the name of a folder above it.
Container make_bare_container(std::string_view id, std::string_view parent,
                              std::string_view ancestors) noexcept {
  if (parent == "docker" || parent == "libpod_parent") return {find_runtime(parent), id};
  return {ancestors.find("kubepods") != std::string_view::npos ? "kubernetes" : "container", id};
}

Container find_machine(std::string_view part, std::string_view parent) noexcept {
  if (parent == "lxc" || parent == "lxc.payload") return {"lxc", part};
  if (part.empty()) return {};
  for (const RuntimeAlias& alias : machines) {
    if (!part.starts_with(alias.prefix)) continue;
    std::string_view name = part.substr(alias.prefix.size());
    for (const std::string_view suffix : {".service", ".scope"}) {
      if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    }
    // Skip libvirt's emulators.
    if (name.empty() || (alias.runtime == "machine" && name.starts_with("qemu"))) return {};
    return {alias.runtime, name};
  }
  return {};
}

// `parent` is the last part of the path `ancestors`.
Container find_in_part(std::string_view part, std::string_view parent,
                       std::string_view ancestors) noexcept {
  std::string_view name = part;
  if (name.size() > id_length && name.ends_with(".scope")) name.remove_suffix(6);
  if (name.size() < id_length || !is_id(name.substr(name.size() - id_length))) {
    return find_machine(part, parent);
  }
  const std::string_view id = name.substr(name.size() - id_length);
  name.remove_suffix(id_length);
  if (name.empty()) return make_bare_container(id, parent, ancestors);
  // Accepts "docker-<id>.scope", or "<slice>:cri-containerd:<id>" of a containerd without systemd.
  const char separator = name.back();
  if (separator != '-' && separator != ':') return {};
  name.remove_suffix(1);
  return make_container(name.substr(name.rfind(':') + 1), id);
}

// Returns the byte for "\x2d", else 0.
char unescape_byte(std::string_view text) noexcept {
  if (text.size() < 4 || !text.starts_with("\\x")) return 0;
  return static_cast<char>(scan::parse_number<unsigned char>(text.substr(2, 2), 16).value_or(0));
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// "7a96d5b2_1c3f_…" in a slice's name, where a hyphen would begin another slice; a static pod has
// a hash instead.
bool is_pod_uid(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-';
  });
}

std::string_view text_after_last(std::string_view text, std::string_view word) noexcept {
  const auto position = text.rfind(word);
  return position == std::string_view::npos ? std::string_view()
                                            : text.substr(position + word.size());
}

// "7a96d5b2-1c3f-…" or the hash of a static pod: a pod's folder without a slice.
bool is_whole_uid(std::string_view text) noexcept {
  return (text.size() == 36 || text.size() == 32) &&
         std::ranges::all_of(text, [](char c) { return is_lower_hex_digit(c) || c == '-'; });
}

// Finds the uid in "kubepods-burstable-pod<uid>.slice", which starts with "kubelet-" on a node that
// is a container, and ends with ":cri-containerd:<id>" without systemd's own driver; in "pod<uid>"
// below a "kubepods"; and in a whole "pod<uid>" where a control group namespace hides the folders
// above.
std::string_view find_pod(std::string_view part, bool is_below_kubepods, bool is_cut) noexcept {
  std::string_view uid;
  if (part.find("kubepods") != std::string_view::npos) {
    part = part.substr(0, part.find(':'));
    if (!part.ends_with(".slice")) return {};
    part.remove_suffix(6);
    uid = text_after_last(part, "-pod");
  } else if ((is_below_kubepods || is_cut) && part.starts_with("pod")) {
    uid = part.substr(3);
    if (!is_below_kubepods && !is_whole_uid(uid)) return {};
  }
  return is_pod_uid(uid) ? uid : std::string_view();
}

// The folder of Slurm's jobs: "slurm", "slurm_<node>" (v1), "slurmstepd.scope",
// "<node>_slurmstepd.scope" (v2).
bool is_slurm_folder(std::string_view part) noexcept {
  return part == "slurm" || part.starts_with("slurm_") || part == "slurmstepd.scope" ||
         part.ends_with("_slurmstepd.scope");
}

// Finds the job in "job_<number>", or since Slurm 26.05 in a SLUID at the same place: "s" and the
// letters and digits of a number.
std::string_view find_job(std::string_view part) noexcept {
  constexpr std::size_t max_sluid_length = 32;
  if (part.starts_with("job_")) {
    part.remove_prefix(4);
    return is_digits(part) ? part : std::string_view();
  }
  const bool is_sluid =
      part.size() > 1 && part.size() <= max_sluid_length && (part[0] == 's' || part[0] == 'S') &&
      std::ranges::all_of(part, is_letter_or_digit) && std::ranges::any_of(part, is_digit);
  return is_sluid ? part : std::string_view();
}

void set_if_empty(std::string& target, std::string_view value) {
  if (target.empty() && !value.empty()) append_utf8(target, value);
}

void set_pod_if_empty(std::string& target, std::string_view uid) {
  if (!target.empty() || uid.empty()) return;
  target = uid;
  std::ranges::replace(target, '_', '-');
}

void add_path(Workload& workload, std::string_view path) {
  std::string_view unit;
  const bool is_cut = path.starts_with("/..");
  bool is_below_kubepods = false;
  bool is_below_slurm = false;
  while (!path.empty()) {
    const std::string_view part = scan::take_until(path, '/');
    set_pod_if_empty(workload.pod, find_pod(part, is_below_kubepods, is_cut));
    if (is_below_slurm) set_if_empty(workload.job, find_job(part));
    is_below_kubepods = is_below_kubepods || part.starts_with("kubepods");
    is_below_slurm = is_below_slurm || is_slurm_folder(part);
    if (part.ends_with(".service") || part.ends_with(".scope")) unit = part;
  }
  set_if_empty(workload.unit, unit);
}

void add_container(Workload& workload, std::string_view path) {
  const Container container = find_container(path);
  if (!workload.container.empty() || container.empty()) return;
  std::string text;
  append_container(text, container);
  workload.runtime = container.runtime;
  workload.container = text.substr(container.runtime.size() + 1);
}

}  // namespace

Container find_container(std::string_view path) noexcept {
  std::string_view part = last_part(path);
  while (!path.empty()) {
    path.remove_suffix(std::min(path.size(), part.size() + 1));
    const std::string_view parent = last_part(path);
    if (const Container container = find_in_part(part, parent, path); !container.empty())
      return container;
    part = parent;
  }
  return {};
}

Container parse_container(std::string_view text) noexcept {
  std::string_view previous;  // of version 1, whose lines mostly have the same path
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    scan::take_until(path, ':');
    if (path == previous || !path.starts_with('/') || !scan::parse_decimal(id)) continue;
    previous = path;
    if (const Container container = find_container(path); !container.empty()) return container;
  }
  return {};
}

void append_container(std::string& out, const Container& container) {
  std::string text(container.runtime);
  text += ':';
  for (std::string_view rest = container.id; !rest.empty();) {
    const char byte = unescape_byte(rest);
    text += byte != 0 ? byte : rest.front();
    rest.remove_prefix(byte != 0 ? 4 : 1);
  }
  append_utf8(out, text);
}

Workload parse_workload(std::string_view text) {
  Workload workload;
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    scan::take_until(path, ':');
    if (!scan::parse_number(id) || !path.starts_with('/')) continue;
    add_container(workload, path);
    add_path(workload, path);
  }
  return workload;
}

}  // namespace hmn::procfs
