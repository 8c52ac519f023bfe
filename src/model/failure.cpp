// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/failure.hpp"

namespace hmn {

reason reason_for(const failure& why) noexcept {
  if (why.stated != reason::unknown) return why.stated;
  switch (why.code) {
    case status::ok:
      return reason::unknown;
    case status::unsupported:
      return reason::unsupported;
    case status::no_source:
    case status::no_device:
    case status::no_process:
      return reason::not_present;
    case status::permission:
      return reason::not_permitted;
    case status::empty:
    case status::cancelled:
      return reason::not_yet;
    case status::asleep:
      return reason::asleep;
    case status::device_lost:
      return reason::lost;
    case status::timeout:
      return reason::timed_out;
    case status::no_memory:
    case status::limit:
      return reason::limit;
    default:
      return reason::failed;
  }
}

failure with_reason(reason stated, const failure& why) noexcept {
  failure made = why;
  made.stated = stated;
  return made;
}

// Out of line: the functions that return a failure need no code to copy it.
result<void>::result(const failure& why) : why_(why) {}

failure failure_of::operator()(status code, const message_text& message,
                               std::int32_t native) const {
  failure made{code, from, {}, message};
  if (native != 0) made.native = {domain, native};
  return made;
}

// Overloads for what most callers pass, out of line for the same reason.
failure failure_of::operator()(status code, const char* message, std::int32_t native) const {
  return (*this)(code, message_text(message), native);
}

failure failure_of::operator()(status code, std::initializer_list<piece> message,
                               std::int32_t native) const {
  return (*this)(code, message_text(message), native);
}

failure failed(status code, const message_text& message) noexcept {
  return {code, source::none, {}, message};
}

failure failed(status code, const char* message) noexcept {
  return {code, source::none, {}, message};
}

failure failed(status code, std::initializer_list<piece> message) noexcept {
  return {code, source::none, {}, message};
}

}  // namespace hmn
