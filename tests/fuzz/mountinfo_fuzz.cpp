// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include "fuzz.hpp"
#include "model/scan.hpp"

using namespace hmn::procfs;

namespace {

std::string escape(std::string_view plain) {
  std::string out;
  for (const char c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    out += static_cast<char>('0' + byte / 64);
    out += static_cast<char>('0' + byte / 8 % 8);
    out += static_cast<char>('0' + byte % 8);
  }
  return out;
}

void check_below(std::string_view root, std::string_view path) {
  const auto below = locate_below_mount(root, path);
  if (!below) return;
  promise(below->empty() || below->front() == '/');
  promise(below->find("/../") == std::string_view::npos && !below->ends_with("/.."));
  promise(path.starts_with(root == "/" ? "" : root));
}

}  // namespace

void fuzz(std::string_view input) {
  promise(unescape_mount(escape(input)) == input);
  promise(unescape_mount(input).size() <= input.size());
  if (const auto mount = find_cgroup_v2_mount(input)) promise(mount->size() <= input.size());
  std::string_view remaining = input;
  const std::string_view path = hmn::scan::take_line(remaining);
  while (!remaining.empty()) {
    const std::string_view line = hmn::scan::take_line(remaining);
    check_below(line, path);
    const auto mount = parse_mount(line);
    if (!mount) continue;
    for (const std::string_view part :
         {mount->root, mount->point, mount->type, mount->super_options}) {
      promise(is_inside(part, line));
    }
    promise(!(mount->is_cgroup_v1_memory() && mount->is_cgroup_v2()));
    check_below(unescape_mount(mount->root), path);
  }
}
