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

// Reason why a command ends without its result, and the exit code that it then returns.
struct Failure {
  ExitCode code = ExitCode::failed;
  std::string message;
};

inline Failure make_failure(std::string message) {
  return {ExitCode::failed, std::move(message)};
}
inline Failure make_usage_error(std::string message) {
  return {ExitCode::usage, std::move(message)};
}

// Prefixes `reason` with the path of the file or folder.
inline Failure make_file_failure(const std::string& path, const std::string& reason) {
  return make_failure("\"" + path + "\": " + reason);
}

template <class T>
class Expected {
 public:
  Expected(T value) : result_(std::in_place_index<0>, std::move(value)) {}
  Expected(Failure failure) : result_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const noexcept { return result_.index() == 0; }
  T& operator*() & { return std::get<0>(result_); }
  const T& operator*() const& { return std::get<0>(result_); }
  T&& operator*() && { return std::get<0>(std::move(result_)); }
  T* operator->() { return &std::get<0>(result_); }
  const T* operator->() const { return &std::get<0>(result_); }
  const Failure& error() const { return std::get<1>(result_); }

 private:
  std::variant<T, Failure> result_;
};

}  // namespace hmn::cli
