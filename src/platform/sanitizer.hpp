// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

// For code on a stack or in a process that the sanitizer's runtime does not know.
#define HMN_UNINSTRUMENTED \
  __attribute__((noinline, no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

#if defined(__SANITIZE_ADDRESS__)
#define HMN_ADDRESS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HMN_ADDRESS_SANITIZED true
#endif
#endif
#ifndef HMN_ADDRESS_SANITIZED
#define HMN_ADDRESS_SANITIZED false
#endif

#if defined(__SANITIZE_THREAD__)
#define HMN_THREAD_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HMN_THREAD_SANITIZED true
#endif
#endif
#ifndef HMN_THREAD_SANITIZED
#define HMN_THREAD_SANITIZED false
#endif

namespace hmn::platform {

inline constexpr bool is_thread_sanitized = HMN_THREAD_SANITIZED;
inline constexpr bool is_address_sanitized = HMN_ADDRESS_SANITIZED;

}  // namespace hmn::platform
