// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/process.hpp"

#include <fmt/format.h>
#include <pwd.h>

#include <cerrno>

#include "cli/system/process.hpp"

namespace hmn::cli {

std::string find_user_name(std::uint32_t uid) {
  constexpr std::size_t max_size = 1 << 20;
  passwd entry{};
  passwd* user = nullptr;
  std::string buffer(1024, '\0');
  while (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &user) == ERANGE &&
         buffer.size() < max_size)
    buffer.resize(buffer.size() * 2);
  return user != nullptr && entry.pw_name[0] != '\0' ? entry.pw_name : fmt::to_string(uid);
}

UserLookup find_uid(const std::string& name) {
  constexpr std::size_t max_size = 1 << 20;
  passwd entry{};
  passwd* user = nullptr;
  std::string buffer(1024, '\0');
  int error = 0;
  while ((error = getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &user)) ==
             ERANGE &&
         buffer.size() < max_size)
    buffer.resize(buffer.size() * 2);
  if (user != nullptr) return {true, entry.pw_uid};
  // Errors of sources that lack the name, by getpwnam(3).
  return {error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM, {}};
}

std::optional<std::string> find_process_user(std::uint32_t, std::optional<std::uint32_t> uid) {
  return uid ? std::optional(find_user_name(*uid)) : std::nullopt;
}

}  // namespace hmn::cli
