// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/token_user.hpp"

#include "platform/windows/handle.hpp"

namespace hmn::cli {

token_user::token_user(HANDLE process) {
  HANDLE opened = nullptr;
  if (OpenProcessToken(process, TOKEN_QUERY, &opened) == 0) return;
  const platform::handle token(opened);
  DWORD needed = 0;
  GetTokenInformation(token.get(), TokenUser, nullptr, 0, &needed);
  bytes_.resize(needed);
  if (GetTokenInformation(token.get(), TokenUser, bytes_.data(), needed, &needed) == 0)
    bytes_.clear();
}

PSID token_user::sid() const {
  if (bytes_.size() < sizeof(TOKEN_USER)) return nullptr;
  return reinterpret_cast<const TOKEN_USER*>(bytes_.data())->User.Sid;
}

}  // namespace hmn::cli
