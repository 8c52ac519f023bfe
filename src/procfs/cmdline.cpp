// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cmdline.hpp"

#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::procfs {

std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept {
  if (comm.size() < longest_comm) return comm;
  std::string_view name = cmdline.substr(0, cmdline.find('\0'));
  name.remove_prefix(scan::find_last(name, '/') + 1);  // npos + 1 is 0
  if (!name.starts_with(comm)) return comm;
  return name.substr(0, name.find(' ', comm.size()));  // of a title, arguments follow
}

void append_command(std::string& out, std::string_view cmdline, bool is_cut) {
  // Matches the bytes of multi-byte characters.
  const auto is_of_several = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
  while (is_cut && !cmdline.empty() && is_of_several(cmdline.back())) cmdline.remove_suffix(1);
  // Strip the padding that a process leaves when it changes its title.
  while (cmdline.ends_with('\0') || cmdline.ends_with(' ')) cmdline.remove_suffix(1);
  out.reserve(out.size() + cmdline.size());
  while (!cmdline.empty()) {
    append_utf8(out, scan::take_until(cmdline, '\0'));
    if (!cmdline.empty()) out += ' ';
  }
}

}  // namespace hmn::procfs
