// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

// Code that runs on a stack or in a process that a sanitizer's runtime knows nothing of.
#define HMN_UNINSTRUMENTED \
  __attribute__((noinline, no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

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

}  // namespace hmn::platform
