// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "backends/registry.hpp"
#include "model/words.hpp"
#include "platform/clock.hpp"

#define HMN_TEXT_OF(x) #x
#define HMN_VERSION_TEXT(a, b, c) HMN_TEXT_OF(a) "." HMN_TEXT_OF(b) "." HMN_TEXT_OF(c)

namespace {

bool is_source(uint32_t number) {
  return hmn::word_of(hmn::words::sources(), number) != nullptr;
}

}  // namespace

uint32_t hmn_version_number(void) noexcept {
  return HMN_VERSION_NUMBER;
}

const char* hmn_version_string(void) noexcept {
  return HMN_VERSION_TEXT(HMN_VERSION_MAJOR, HMN_VERSION_MINOR, HMN_VERSION_PATCH);
}

uint32_t hmn_feature(uint32_t feature) noexcept {
  if (feature == HMN_FEATURE_SUBPROCESS) return HMN_WITH_SUBPROCESS;
  if (feature == HMN_FEATURE_SIMULATION) return hmn::is_available(hmn::source::simulated) ? 1 : 0;
  return 0;
}

uint32_t hmn_backend_available(uint32_t backend) noexcept {
  return is_source(backend) && hmn::is_available(static_cast<hmn::source>(backend)) ? 1 : 0;
}

uint64_t hmn_monotonic_ns(void) noexcept {
  return hmn::platform::monotonic_ns();
}

const char* hmn_status_name(hmn_status status) noexcept {
  return hmn::status_name(status);
}

const char* hmn_backend_name(uint32_t backend) noexcept {
  return hmn::word_or_unknown(hmn::words::sources(), backend);
}

const char* hmn_reason_name(uint32_t reason) noexcept {
  return hmn::word_or_unknown(hmn::words::reasons(), reason);
}
