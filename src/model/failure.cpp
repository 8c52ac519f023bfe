// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/failure.hpp"

namespace hmn {

Reason resolve_reason(const Failure& failure) noexcept {
  if (failure.reason != Reason::unknown) return failure.reason;
  switch (failure.code) {
    case Status::ok:
      return Reason::unknown;
    case Status::unsupported:
      return Reason::unsupported;
    case Status::no_source:
    case Status::no_device:
    case Status::no_process:
      return Reason::not_present;
    case Status::permission:
      return Reason::not_permitted;
    case Status::empty:
    case Status::cancelled:
      return Reason::not_yet;
    case Status::asleep:
      return Reason::asleep;
    case Status::device_lost:
      return Reason::lost;
    case Status::timeout:
      return Reason::timed_out;
    case Status::no_memory:
    case Status::limit:
      return Reason::limit;
    default:
      return Reason::failed;
  }
}

Failure with_reason(Reason reason, const Failure& failure) noexcept {
  Failure result = failure;
  result.reason = reason;
  return result;
}

// Out of line: the functions that return a failure need no code to copy it.
Result<void>::Result(const Failure& failure) : failure_(failure) {}

Failure FailureFactory::operator()(Status code, const MessageText& message,
                                   std::int32_t native) const {
  Failure failure{code, source, {}, message};
  if (native != 0) failure.native = {domain, native};
  return failure;
}

// Overloads for what most callers pass, out of line for the same reason.
Failure FailureFactory::operator()(Status code, const char* message, std::int32_t native) const {
  return (*this)(code, MessageText(message), native);
}

Failure FailureFactory::operator()(Status code, std::initializer_list<Piece> message,
                                   std::int32_t native) const {
  return (*this)(code, MessageText(message), native);
}

Failure make_failure(Status code, const MessageText& message) noexcept {
  return {code, Source::none, {}, message};
}

Failure make_failure(Status code, const char* message) noexcept {
  return {code, Source::none, {}, message};
}

Failure make_failure(Status code, std::initializer_list<Piece> message) noexcept {
  return {code, Source::none, {}, message};
}

}  // namespace hmn
