// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/process_facts.hpp"

#include <fmt/format.h>
#include <pwd.h>

#include <cerrno>

#include "cli/hardware.hpp"

namespace hmn::cli {

std::string user_name(std::uint32_t uid) {
  constexpr std::size_t longest = 1 << 20;
  passwd entry{};
  passwd* found = nullptr;
  std::string room(1024, '\0');
  while (getpwuid_r(uid, &entry, room.data(), room.size(), &found) == ERANGE &&
         room.size() < longest)
    room.resize(room.size() * 2);
  return found != nullptr && entry.pw_name[0] != '\0' ? entry.pw_name : fmt::to_string(uid);
}

std::optional<std::uint32_t> namespace_pid(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/status", roots_from_environment().proc, pid));
  const auto pids = parse_namespace_pids(text.value_or(""));
  return pids.empty() ? std::nullopt : std::optional(pids.back());
}

}  // namespace hmn::cli
