// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/process.hpp"

#include <fmt/format.h>
#include <pwd.h>

#include <cerrno>

#include "cli/system/process.hpp"

namespace hmn::cli {

std::string user_name(std::uint32_t uid) {
  constexpr std::size_t longest = 1 << 20;
  passwd entry{};
  passwd* found = nullptr;
  std::string capacity(1024, '\0');
  while (getpwuid_r(uid, &entry, capacity.data(), capacity.size(), &found) == ERANGE &&
         capacity.size() < longest)
    capacity.resize(capacity.size() * 2);
  return found != nullptr && entry.pw_name[0] != '\0' ? entry.pw_name : fmt::to_string(uid);
}

UserSearch find_uid(const std::string& name) {
  constexpr std::size_t longest = 1 << 20;
  passwd entry{};
  passwd* found = nullptr;
  std::string capacity(1024, '\0');
  int error = 0;
  while ((error = getpwnam_r(name.c_str(), &entry, capacity.data(), capacity.size(), &found)) ==
             ERANGE &&
         capacity.size() < longest)
    capacity.resize(capacity.size() * 2);
  if (found != nullptr) return {true, entry.pw_uid};
  // What a source without that name returns, by getpwnam(3).
  return {error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM, {}};
}

std::optional<std::string> process_user(std::uint32_t, std::optional<std::uint32_t> uid) {
  return uid ? std::optional(user_name(*uid)) : std::nullopt;
}

}  // namespace hmn::cli
