// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/dtype.hpp"
#include "model/message_text.hpp"
#include "model/words.hpp"
#include "platform/clock.hpp"
#include "source/registry.hpp"

#define HMN_TEXT_OF(x) #x
#define HMN_VERSION_TEXT(a, b, c) HMN_TEXT_OF(a) "." HMN_TEXT_OF(b) "." HMN_TEXT_OF(c)

using namespace hmn;
using namespace hmn::api;

namespace {

bool is_source(uint32_t backend) {
  return lookup_word(words::sources(), backend) != nullptr;
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
  if (feature == HMN_FEATURE_SIMULATION) return is_available(Source::simulated) ? 1 : 0;
  return 0;
}

uint32_t hmn_backend_available(uint32_t backend) noexcept {
  return is_source(backend) && is_available(static_cast<Source>(backend)) ? 1 : 0;
}

uint64_t hmn_monotonic_ns(void) noexcept {
  return platform::monotonic_ns();
}

const char* hmn_status_name(hmn_status status) noexcept {
  return status_name(status);
}

const char* hmn_backend_name(uint32_t backend) noexcept {
  return word_or_unknown(words::sources(), backend);
}

const char* hmn_reason_name(uint32_t reason) noexcept {
  return word_or_unknown(words::reasons(), reason);
}

uint32_t hmn_dtype_bits(uint32_t dtype) noexcept {
  return dtype_bits(dtype);
}

const char* hmn_dtype_name(uint32_t dtype) noexcept {
  return dtype_name(dtype);
}

hmn_status hmn_dtype_from_name(const char* name, uint32_t* out, hmn_error* error) noexcept {
  clear_out(out);
  return run_guarded(error, [&]() -> Result<void> {
    if (name == nullptr) return make_null_failure("name is NULL");
    if (out == nullptr) return make_null_failure("out is NULL");
    *out = find_dtype(name);
    if (*out != HMN_DTYPE_UNKNOWN) return {};
    return make_failure(
        Status::argument,
        {"name: \"", name, "\" is not a dtype, for instance f32, bf16, f8e4m3 or i4"});
  });
}
