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
  const bool needs_slash = length_ != 0 && bytes_[length_ - 1] != '/';
  const std::size_t begin = length_ + (needs_slash ? 1 : 0);
  fits_ = fits_ && begin + part.size() < bytes_.size();
  length_ = fits_ ? begin + part.size() : 0;
  bytes_[length_] = '\0';
  if (!fits_) return;
  if (needs_slash) bytes_[begin - 1] = '/';
  std::memcpy(bytes_.data() + begin, part.data(), part.size());
}

}  // namespace hmn::procfs
