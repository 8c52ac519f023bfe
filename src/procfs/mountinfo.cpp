// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/mountinfo.hpp"

#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

bool is_escape(std::string_view text) {
  return text.size() >= 4 && text[0] == '\\' && text[1] <= '3' && is_octal(text[1]) &&
         is_octal(text[2]) && is_octal(text[3]);
}

}  // namespace

bool mount::is_cgroup_v1_memory() const noexcept {
  return type == "cgroup" && scan::has_part(super_options, ',', "memory");
}

std::optional<mount> parse_mount(std::string_view line) noexcept {
  mount m;
  for (int ids = 0; ids < 3; ++ids) scan::take_word(line);
  m.root = scan::take_word(line);
  m.point = scan::take_word(line);
  scan::take_word(line);  // options of this mount
  std::string_view word = scan::take_word(line);
  while (!word.empty() && word != "-") word = scan::take_word(line);  // optional fields
  m.type = scan::take_word(line);
  scan::take_word(line);  // source
  m.super_options = scan::take_word(line);
  if (word != "-" || m.type.empty() || !m.root.starts_with('/')) return std::nullopt;
  return m;
}

std::string unescape_mount(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (!is_escape(text)) {
      plain += text[0];
      text.remove_prefix(1);
      continue;
    }
    plain += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
    text.remove_prefix(4);
  }
  return plain;
}

std::optional<std::string> find_cgroup_v2_mount(std::string_view text) {
  while (!text.empty()) {
    const auto m = parse_mount(scan::take_line(text));
    if (m && m->is_cgroup_v2() && m->root == "/") return unescape_mount(m->point);
  }
  return std::nullopt;
}

std::optional<std::string_view> below_mount(std::string_view root, std::string_view path) noexcept {
  if (root == "/") root = "";
  if (!path.starts_with(root)) return std::nullopt;
  std::string_view rest = path.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (scan::has_part(rest, '/', "..")) return std::nullopt;
  return rest;
}

}  // namespace hmn::procfs
