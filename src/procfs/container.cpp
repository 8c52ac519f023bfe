// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/container.hpp"

#include <algorithm>

#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::procfs {
namespace {

constexpr std::size_t id_length = 64;

struct spelling {
  std::string_view written;
  std::string_view meant;
};

// Names before "-<id>.scope", and the folders that hold bare ids.
constexpr spelling runtimes[] = {{"cri-containerd", "containerd"},
                                 {"libpod", "podman"},
                                 {"libpod_parent", "podman"},
                                 {"crio", "cri-o"}};

// Names before that of a virtual machine.
constexpr spelling machines[] = {
    {"systemd-nspawn@", "systemd-nspawn"}, {"machine-", "machine"}, {"lxc.payload.", "lxc"}};

std::string_view runtime_of(std::string_view written) noexcept {
  for (const spelling& s : runtimes) {
    if (s.written == written) return s.meant;
  }
  return written;
}

bool is_id(std::string_view text) noexcept {
  return text.size() == id_length && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(scan::find_last(path, '/') + 1);  // npos + 1 is 0
}

container named(std::string_view written, std::string_view id) noexcept {
  if (written.ends_with("conmon")) return {};
  return {written.empty() ? "container" : runtime_of(written), id};
}

// Reads a folder named by the id alone; the runtime is named by a folder above it.
container bare(std::string_view id, std::string_view parent, std::string_view above) noexcept {
  if (parent == "docker" || parent == "libpod_parent") return {runtime_of(parent), id};
  return {above.find("kubepods") != std::string_view::npos ? "kubernetes" : "container", id};
}

container machine(std::string_view part, std::string_view parent) noexcept {
  if (parent == "lxc" || parent == "lxc.payload") return {"lxc", part};
  if (part.empty()) return {};
  for (const spelling& s : machines) {
    if (!part.starts_with(s.written)) continue;
    std::string_view name = part.substr(s.written.size());
    for (const std::string_view suffix : {".service", ".scope"}) {
      if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    }
    // Skip libvirt's emulators.
    if (name.empty() || (s.meant == "machine" && name.starts_with("qemu"))) return {};
    return {s.meant, name};
  }
  return {};
}

// `parent` is the last part of the path `above`.
container at(std::string_view part, std::string_view parent, std::string_view above) noexcept {
  std::string_view name = part;
  if (name.size() > id_length && name.ends_with(".scope")) name.remove_suffix(6);
  if (name.size() < id_length || !is_id(name.substr(name.size() - id_length))) {
    return machine(part, parent);
  }
  const std::string_view id = name.substr(name.size() - id_length);
  name.remove_suffix(id_length);
  if (name.empty()) return bare(id, parent, above);
  // Accepts "docker-<id>.scope", or "<slice>:cri-containerd:<id>" of a containerd without systemd.
  const char separator = name.back();
  if (separator != '-' && separator != ':') return {};
  name.remove_suffix(1);
  return named(name.substr(scan::find_last(name, ':') + 1), id);
}

}  // namespace

container container_of(std::string_view path) noexcept {
  std::string_view part = last_part(path);
  while (!path.empty()) {
    path.remove_suffix(std::min(path.size(), part.size() + 1));
    const std::string_view parent = last_part(path);
    if (const container found = at(part, parent, path); !found.empty()) return found;
    part = parent;
  }
  return {};
}

namespace {

// Returns the byte for "\x2d", else 0.
char unescaped(std::string_view text) noexcept {
  if (text.size() < 4 || !text.starts_with("\\x")) return 0;
  return static_cast<char>(scan::number<unsigned char>(text.substr(2, 2), 16).value_or(0));
}

}  // namespace

container parse_container(std::string_view text) noexcept {
  std::string_view last;  // of version 1, whose lines mostly have the same path
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    scan::take_until(path, ':');
    if (path == last || !path.starts_with('/') || !scan::decimal(id)) continue;
    last = path;
    if (const container found = container_of(path); !found.empty()) return found;
  }
  return {};
}

void append_container(std::string& out, const container& in) {
  std::string whole(in.runtime);
  whole += ':';
  for (std::string_view rest = in.id; !rest.empty();) {
    const char c = unescaped(rest);
    whole += c != 0 ? c : rest.front();
    rest.remove_prefix(c != 0 ? 4 : 1);
  }
  append_utf8(out, whole);
}

}  // namespace hmn::procfs
