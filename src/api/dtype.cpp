// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/dtype.hpp"

#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/compose.hpp"

using namespace hmn;
using namespace hmn::api;

uint32_t hmn_dtype_bits(uint32_t dtype) noexcept {
  return bits_of_dtype(dtype);
}

const char* hmn_dtype_name(uint32_t dtype) noexcept {
  return name_of_dtype(dtype);
}

hmn_status hmn_dtype_from_name(const char* name, uint32_t* out, hmn_error* error) noexcept {
  clear_out(out);
  return guarded(error, [&]() -> result<void> {
    if (name == nullptr) return null_argument("name is NULL");
    if (out == nullptr) return null_argument("out is NULL");
    *out = dtype_called(name);
    if (*out != HMN_DTYPE_UNKNOWN) return {};
    return failed(status::argument, {"\"", name, "\" is no dtype: try f32, bf16, f8e4m3 or i4"});
  });
}
