// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Failures as values, and what an errno of a file, a device or a process proves.
#pragma once
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>

#include "model/message_text.hpp"
#include "model/tables.hpp"

namespace hmn {

enum class status : std::int32_t { HMN_STATUSES(HMN_ENUMERATOR) };

enum class source : std::uint32_t { HMN_SOURCES(HMN_ENUMERATOR) };

constexpr std::uint64_t bit_of(source s) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(s);
}

enum class native_domain : std::uint32_t { HMN_NATIVE_DOMAINS(HMN_ENUMERATOR) };

struct native_code {
  native_domain domain = native_domain::none;
  std::int32_t code = 0;

  bool operator==(const native_code&) const = default;
};

enum class reason : std::uint32_t { HMN_REASONS(HMN_ENUMERATOR) };

// Why a call failed or a value is absent. The sentence names the value and suggests what can be
// done.
struct failure {
  status code = status::internal;
  source from = source::none;
  native_code native;
  message_text message;
  reason stated = reason::unknown;  // unknown: follows from the status
  bool lasts = false;               // the device has no such value, whichever source is asked

  bool operator==(const failure&) const = default;
};
static_assert(std::is_trivially_copyable_v<failure>);

// Returns the stated reason, else the one that follows from the status.
reason reason_for(const failure& why) noexcept;

// States a reason that does not follow from the status.
failure with_reason(reason stated, const failure& why) noexcept;

template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  result(const failure& why) : state_(std::in_place_index<1>, why) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() noexcept { return known(std::get_if<0>(&state_)); }
  const T& operator*() const noexcept { return known(std::get_if<0>(&state_)); }
  T* operator->() noexcept { return &**this; }
  const T* operator->() const noexcept { return &**this; }
  failure& why() noexcept { return known(std::get_if<1>(&state_)); }
  const failure& why() const noexcept { return known(std::get_if<1>(&state_)); }

 private:
  // Keeps the compiler from writing a path for the other alternative.
  template <class U>
  static U& known(U* alternative) noexcept {
    if (alternative == nullptr) __builtin_unreachable();
    return *alternative;
  }

  std::variant<T, failure> state_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(const failure& why);

  explicit operator bool() const noexcept { return !why_.has_value(); }
  failure& why() noexcept { return *why_; }
  const failure& why() const noexcept { return *why_; }

 private:
  std::optional<failure> why_;
};

// Factory of one source's failures: `inline constexpr failure_of fail{source::nvml};`
struct failure_of {
  source from;
  native_domain domain = native_domain::error_number;

  // `native`: error number of the system or the library; 0: none.
  failure operator()(status code, const message_text& message, std::int32_t native = 0) const;
  failure operator()(status code, const char* message, std::int32_t native = 0) const;
  failure operator()(status code, std::initializer_list<piece> message,
                     std::int32_t native = 0) const;
};

// Make failures of the library itself.
failure failed(status code, const message_text& message) noexcept;
failure failed(status code, const char* message) noexcept;
failure failed(status code, std::initializer_list<piece> message) noexcept;

constexpr bool is_gone(int error) noexcept {
  return error == ENOENT || error == ESRCH;
}

constexpr bool is_refused(int error) noexcept {
  return error == EACCES || error == EPERM;
}

// Temporary errors prove nothing: the file may be readable next time.
constexpr bool is_passing(int error) noexcept {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENODEV:
    case ENOMEM:
      return true;
    default:
      return false;
  }
}

// `missing`: status for a file that does not exist.
constexpr status status_of(int error, status missing) noexcept {
  switch (error) {
    case ENOENT:
      return missing;
    case EACCES:
    case EPERM:
      return status::permission;
    case EOPNOTSUPP:
      return status::unsupported;
    case ESRCH:
      return status::no_process;
    case ENODEV:
    case ENXIO:
      return status::device_lost;
    case EMFILE:
    case ENFILE:
      return status::limit;
    case ENOMEM:
      return status::no_memory;
    default:
      return status::backend;
  }
}

}  // namespace hmn
