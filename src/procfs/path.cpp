// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/path.hpp"

#include <cstring>

namespace hmn::procfs {

proc_path::proc_path(std::string_view root, std::string_view who, std::string_view file) noexcept {
  bytes_[0] = '\0';
  add(root);
  add(who);
  folder_ = length_;
  add(file);
}

const char* proc_path::to(std::string_view file) noexcept {
  length_ = fits_ ? folder_ : 0;
  bytes_[length_] = '\0';
  add(file);
  return c_str();
}

void proc_path::add(std::string_view part) noexcept {
  if (part.empty()) return;
  if (length_ != 0 && bytes_[length_ - 1] != '/') append("/");
  append(part);
}

void proc_path::append(std::string_view part) noexcept {
  fits_ = fits_ && length_ + part.size() < bytes_.size();
  if (!fits_) {
    length_ = 0;
    bytes_[0] = '\0';
    return;
  }
  std::memcpy(bytes_.data() + length_, part.data(), part.size());
  length_ += part.size();
  bytes_[length_] = '\0';
}

}  // namespace hmn::procfs
