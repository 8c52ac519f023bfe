// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "backends/registry.hpp"
#include "model/words.hpp"

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
  if (feature < HMN_FEATURE_BACKEND || !is_source(feature - HMN_FEATURE_BACKEND)) return 0;
  return hmn::is_available(static_cast<hmn::source>(feature - HMN_FEATURE_BACKEND)) ? 1 : 0;
}

const char* hmn_status_name(hmn_status status) noexcept {
  return hmn::status_name(status);
}

const char* hmn_backend_name(uint32_t backend) noexcept {
  return hmn::word_or_unknown(hmn::words::sources(), backend);
}
