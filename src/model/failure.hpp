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

enum class Status : std::int32_t { HMN_STATUSES(HMN_ENUMERATOR) };

enum class Source : std::uint32_t { HMN_SOURCES(HMN_ENUMERATOR) };

constexpr std::uint64_t source_bit(Source source) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(source);
}

enum class NativeDomain : std::uint32_t { HMN_NATIVE_DOMAINS(HMN_ENUMERATOR) };

struct NativeCode {
  NativeDomain domain = NativeDomain::none;
  std::int32_t code = 0;

  bool operator==(const NativeCode&) const = default;
};

enum class Reason : std::uint32_t { HMN_REASONS(HMN_ENUMERATOR) };

// Why a call failed or a value is absent. The sentence names the value and suggests what can be
// done.
struct Failure {
  Status code = Status::internal;
  Source source = Source::none;
  NativeCode native;
  MessageText message;
  Reason reason = Reason::unknown;  // unknown: follows from the status
  bool is_permanent = false;        // the device has no such value, whichever source is asked

  bool operator==(const Failure&) const = default;
};
static_assert(std::is_trivially_copyable_v<Failure>);

// Returns the failure's own reason, else the one that follows from its status.
Reason resolve_reason(const Failure& failure) noexcept;

// Sets a reason that does not follow from the status.
Failure with_reason(Reason reason, const Failure& failure) noexcept;

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(const Failure& failure) : state_(std::in_place_index<1>, failure) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() noexcept { return assume_present(std::get_if<0>(&state_)); }
  const T& operator*() const noexcept { return assume_present(std::get_if<0>(&state_)); }
  T* operator->() noexcept { return &**this; }
  const T* operator->() const noexcept { return &**this; }
  Failure& failure() noexcept { return assume_present(std::get_if<1>(&state_)); }
  const Failure& failure() const noexcept { return assume_present(std::get_if<1>(&state_)); }

 private:
  // Keeps the compiler from writing a path for the other alternative.
  template <class U>
  static U& assume_present(U* alternative) noexcept {
    if (alternative == nullptr) __builtin_unreachable();
    return *alternative;
  }

  std::variant<T, Failure> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(const Failure& failure);

  explicit operator bool() const noexcept { return !failure_.has_value(); }
  Failure& failure() noexcept { return *failure_; }
  const Failure& failure() const noexcept { return *failure_; }

 private:
  std::optional<Failure> failure_;
};

// Factory of one source's failures: `inline constexpr FailureFactory fail{Source::nvml};`
struct FailureFactory {
  Source source;
  NativeDomain domain = NativeDomain::error_number;

  // `native`: error number of the system or the library; 0: none.
  Failure operator()(Status code, const MessageText& message, std::int32_t native = 0) const;
  Failure operator()(Status code, const char* message, std::int32_t native = 0) const;
  Failure operator()(Status code, std::initializer_list<Piece> message,
                     std::int32_t native = 0) const;
};

// Make failures of the library itself.
Failure make_failure(Status code, const MessageText& message) noexcept;
Failure make_failure(Status code, const char* message) noexcept;
Failure make_failure(Status code, std::initializer_list<Piece> message) noexcept;

constexpr bool is_gone(int error) noexcept {
  return error == ENOENT || error == ESRCH;
}

constexpr bool is_refused(int error) noexcept {
  return error == EACCES || error == EPERM;
}

// Temporary errors prove nothing: the file may be readable next time.
constexpr bool is_transient(int error) noexcept {
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
constexpr Status translate_errno(int error, Status missing) noexcept {
  switch (error) {
    case ENOENT:
      return missing;
    case EACCES:
    case EPERM:
      return Status::permission;
    case EOPNOTSUPP:
      return Status::unsupported;
    case ESRCH:
      return Status::no_process;
    case ENODEV:
    case ENXIO:
      return Status::device_lost;
    case EMFILE:
    case ENFILE:
      return Status::limit;
    case ENOMEM:
      return Status::no_memory;
    default:
      return Status::backend;
  }
}

}  // namespace hmn
