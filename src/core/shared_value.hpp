// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

namespace hmn {

// Value that its first owner writes, and that is only read once copies share it.
template <class T>
class shared_value {
 public:
  shared_value() : kept_(std::make_shared<T>()) {}
  explicit shared_value(const T& value) : kept_(std::make_shared<T>(value)) {}

  const T& operator*() const noexcept { return *kept_; }
  const T* operator->() const noexcept { return kept_.get(); }
  // Not once it is shared.
  T& edit() noexcept { return *kept_; }

 private:
  std::shared_ptr<T> kept_;
};

}  // namespace hmn
