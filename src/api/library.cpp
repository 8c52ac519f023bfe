// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "backends/registry.hpp"
#include "core/json_names.hpp"

#define HMN_TEXT_OF(x) #x
#define HMN_VERSION_TEXT(a, b, c) HMN_TEXT_OF(a) "." HMN_TEXT_OF(b) "." HMN_TEXT_OF(c)

namespace {

bool is_source(uint32_t number) {
  return number <= HMN_BACKEND_AMD_SMI;
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
#define HMN_NAME_OF(x) \
  case x:              \
    return #x
  switch (status) {
    HMN_NAME_OF(HMN_OK);
    HMN_NAME_OF(HMN_E_ARGUMENT);
    HMN_NAME_OF(HMN_E_STRUCT_SIZE);
    HMN_NAME_OF(HMN_E_UNKNOWN_FLAG);
    HMN_NAME_OF(HMN_E_RANGE);
    HMN_NAME_OF(HMN_E_NO_MEMORY);
    HMN_NAME_OF(HMN_E_UNSUPPORTED);
    HMN_NAME_OF(HMN_E_NO_SOURCE);
    HMN_NAME_OF(HMN_E_NO_DEVICE);
    HMN_NAME_OF(HMN_E_NO_PROCESS);
    HMN_NAME_OF(HMN_E_PERMISSION);
    HMN_NAME_OF(HMN_E_TIMEOUT);
    HMN_NAME_OF(HMN_E_DEVICE_LOST);
    HMN_NAME_OF(HMN_E_BACKEND);
    HMN_NAME_OF(HMN_E_LIMIT);
    HMN_NAME_OF(HMN_E_OVERFLOW);
    HMN_NAME_OF(HMN_E_FORKED);
    HMN_NAME_OF(HMN_E_BUFFER);
    HMN_NAME_OF(HMN_E_EMPTY);
    HMN_NAME_OF(HMN_E_INTERNAL);
    HMN_NAME_OF(HMN_E_ASLEEP);
    HMN_NAME_OF(HMN_E_STATE);
    default:
      return "HMN_E_?";
  }
#undef HMN_NAME_OF
}

const char* hmn_backend_name(uint32_t backend) noexcept {
  return hmn::name_of(static_cast<hmn::source>(backend)).data();
}
