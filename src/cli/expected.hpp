// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <variant>

namespace hmn::cli {

// Exit codes, as in docs/exit-codes.md. Commands that run another also return its code, or 128 + N.
enum class ExitCode : int {
  done = 0,
  failed = 1,
  usage = 2,
  tight = 3,  // fits in part
  does_not_fit = 4,
  timed_out = 124,
  wrapper_failed = 125,  // hmn itself, not the command
  not_runnable = 126,
  not_found = 127,
  killed = 128  // + N
};

struct Failure {
  ExitCode code = ExitCode::failed;
  std::string message;
};

inline Failure failed(std::string message) {
  return {ExitCode::failed, std::move(message)};
}
inline Failure misused(std::string message) {
  return {ExitCode::usage, std::move(message)};
}

// Prefixes `why` with the path of the file or folder.
inline Failure failed_at(const std::string& path, const std::string& why) {
  return failed("\"" + path + "\": " + why);
}

template <class T>
class Expected {
 public:
  Expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Expected(Failure why) : held_(std::in_place_index<1>, std::move(why)) {}

  explicit operator bool() const noexcept { return held_.index() == 0; }
  T& operator*() & { return std::get<0>(held_); }
  const T& operator*() const& { return std::get<0>(held_); }
  T&& operator*() && { return std::get<0>(std::move(held_)); }
  T* operator->() { return &std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  const Failure& why() const { return std::get<1>(held_); }

 private:
  std::variant<T, Failure> held_;
};

}  // namespace hmn::cli
