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

owner_only::owner_only() {
  const token_user self(GetCurrentProcess());
  const DWORD of_sid = self.sid() == nullptr ? 0 : GetLengthSid(self.sid());
  list_.resize(sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + of_sid);
  auto* list = reinterpret_cast<ACL*>(list_.data());
  InitializeAcl(list, static_cast<DWORD>(list_.size()), ACL_REVISION);
  if (self.sid() != nullptr) AddAccessAllowedAce(list, ACL_REVISION, GENERIC_ALL, self.sid());
  InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION);
  SetSecurityDescriptorDacl(&descriptor_, TRUE, list, FALSE);
  // Block inherited permissions.
  SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
}

}  // namespace hmn::cli
