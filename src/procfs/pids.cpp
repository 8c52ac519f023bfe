// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/pids.hpp"

#include "model/compose.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/path.hpp"

namespace hmn::procfs {

pid_name::pid_name(std::uint32_t pid) noexcept {
  length_ = piece_text(pid).view().copy(bytes_.data(), bytes_.size());
}

std::optional<std::uint32_t> parse_pid(std::string_view name) noexcept {
  const auto pid = scan::decimal(name);
  if (!pid || *pid == 0 || *pid > 0xFFFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*pid);
}

std::vector<std::uint32_t> parse_pids(std::string_view text) {
  std::vector<std::uint32_t> all;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    for (auto word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
      if (const auto pid = parse_pid(word)) all.push_back(*pid);
    }
  }
  return all;
}

bool is_in_initial_pid_namespace(const std::string& proc_root) {
  if (!platform::has_pid_namespaces()) return true;
  std::array<char, 64> target;
  const proc_path link(proc_root, "self", "ns/pid");
  const auto got = platform::read_link(link.c_str(), target);
  return got && std::string_view(target.data(), got.value) == initial_pid_namespace;
}

int list_pids(const char* folder, std::vector<std::uint32_t>& out) {
  return platform::for_each_entry(folder, [&](std::string_view name) {
    if (const auto pid = parse_pid(name)) out.push_back(*pid);
    return true;
  });
}

}  // namespace hmn::procfs
