// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/owner_only.hpp"

#include "cli/system/windows/token_user.hpp"

namespace hmn::cli {

owner_only::owner_only() {
  const token_user self(GetCurrentProcess());
  const DWORD of_sid = self.sid() == nullptr ? 0 : GetLengthSid(self.sid());
  list_.resize(sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + of_sid);
  auto* list = reinterpret_cast<ACL*>(list_.data());
  InitializeAcl(list, static_cast<DWORD>(list_.size()), ACL_REVISION);
  if (self.sid() != nullptr) AddAccessAllowedAce(list, ACL_REVISION, GENERIC_ALL, self.sid());
  InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION);
  SetSecurityDescriptorDacl(&descriptor_, TRUE, list, FALSE);
  // Not what the folder would add.
  SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
}

}  // namespace hmn::cli
