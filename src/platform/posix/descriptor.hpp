// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace hmn::platform {

class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor before(std::move(other));
    std::swap(number_, before.number_);
    return *this;
  }
  ~descriptor() { close(); }

  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  explicit operator bool() const noexcept { return number_ >= 0; }

  void close() noexcept {
    if (number_ >= 0) ::close(release());
  }

 private:
  int number_ = -1;
};

}  // namespace hmn::platform
