// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "cli/exit_code.hpp"

namespace hmn::cli {

struct failure {
  exit_code code = exit_code::failed;
  std::string message;
};

inline failure failed(std::string message) {
  return {exit_code::failed, std::move(message)};
}
inline failure misused(std::string message) {
  return {exit_code::usage, std::move(message)};
}

template <class T>
class expected {
 public:
  expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  expected(failure why) : held_(std::in_place_index<1>, std::move(why)) {}

  explicit operator bool() const noexcept { return held_.index() == 0; }
  T& operator*() & { return std::get<0>(held_); }
  const T& operator*() const& { return std::get<0>(held_); }
  T&& operator*() && { return std::get<0>(std::move(held_)); }
  T* operator->() { return &std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  const failure& why() const { return std::get<1>(held_); }

 private:
  std::variant<T, failure> held_;
};

}  // namespace hmn::cli
