// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstddef>
#include <vector>

namespace hmn::cli {

// User that a process runs as.
class UserToken {
 public:
  explicit UserToken(HANDLE process);

  PSID sid() const;  // null: unknown

 private:
  std::vector<std::byte> bytes_;
};

// Security descriptor that allows access to this user only, or to no user if unknown.
class OwnerOnlySecurity {
 public:
  OwnerOnlySecurity();
  OwnerOnlySecurity(const OwnerOnlySecurity&) = delete;
  OwnerOnlySecurity& operator=(const OwnerOnlySecurity&) = delete;

  SECURITY_ATTRIBUTES* attributes() const { return &attributes_; }

 private:
  std::vector<unsigned char> list_;
  SECURITY_DESCRIPTOR descriptor_{};
  mutable SECURITY_ATTRIBUTES attributes_{};
};

}  // namespace hmn::cli
