// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/estimate.hpp"

#include <hypomnesis.h>

#include <optional>

#include "api/guard.hpp"
#include "model/dtype.hpp"
#include "model/message_text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t default_overhead = 1100;  // per thousand
constexpr std::uint32_t max_element_bits = 64;

// Outcome of an estimate's argument checks: the first one that failed.
class ArgumentCheck {
 public:
  bool refuse(Status code, const char* field, std::uint64_t value, const char* problem) {
    outcome_ = make_failure(code, {field, ": ", value, problem});
    return false;
  }
  bool refuse_null(const char* message) {
    outcome_ = make_null_failure(message);
    return false;
  }
  // Reads a caller's struct that has no default.
  bool read(const void* input, const char* null_message, std::uint32_t first_size, void* output,
            std::uint32_t known_size) {
    if (input == nullptr) return refuse_null(null_message);
    outcome_ = read_sized(input, first_size, output, known_size);
    return static_cast<bool>(outcome_);
  }
  Result<void> finish(const std::optional<std::uint64_t>& bytes, std::uint64_t& out) {
    if (!outcome_) return std::move(outcome_);
    if (!bytes) return make_failure(Status::overflow, "the result is 2^64 or more");
    out = *bytes;
    return {};
  }

 private:
  Result<void> outcome_;
};

using OptionalBytes = std::optional<std::uint64_t>;

// Common entry of all estimates. `body` returns nothing if a check failed or the result overflows.
hmn_status run_estimate(std::uint64_t* out, hmn_error* error,
                        FunctionRef<OptionalBytes(ArgumentCheck&)> body) noexcept {
  clear_out(out);
  return run_guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    ArgumentCheck check;
    const OptionalBytes bytes = body(check);
    return check.finish(bytes, *out);
  });
}

bool check_shape(ArgumentCheck& check, const std::uint64_t* shape, std::uint32_t rank) {
  return shape != nullptr || rank == 0 || check.refuse_null("shape is NULL and rank is not 0");
}

bool check_bits(ArgumentCheck& check, const char* field, std::uint32_t unknown_bits) {
  return unknown_bits == 0 ||
         check.refuse(Status::unknown_flag, field, unknown_bits, " has unknown bits");
}

bool read_dtype(ArgumentCheck& check, std::uint32_t dtype, std::uint32_t& bits) {
  bits = dtype_bits(dtype);
  return bits != 0 || check.refuse(Status::range, "dtype", dtype, " is not a known dtype");
}

// Reads the packing of hmn_packing and of hmn_cache.
bool read_packing(ArgumentCheck& check, std::uint32_t dtype, const estimate::Packing& packing,
                  estimate::Packing& out) {
  out = packing;
  if (packing.group_bits != 0 && packing.group_size == 0) {
    return check.refuse(Status::argument, "group_bits", packing.group_bits,
                        " is set without group_size");
  }
  if ((dtype == 0) == (packing.element_bits == 0)) {
    return check.refuse(Status::argument, "element_bits", packing.element_bits,
                        ", expected either this or dtype");
  }
  if (packing.element_bits > max_element_bits) {
    return check.refuse(Status::range, "element_bits", packing.element_bits, " is above 64");
  }
  return dtype == 0 || read_dtype(check, dtype, out.element_bits);
}

// Field of hmn_cache, and the kinds of cache that require or allow it.
struct CacheField {
  const char* name;
  std::uint64_t hmn_cache::*value;
  std::uint8_t required_kinds;  // bit k: required by kind k
  std::uint8_t allowed_kinds;
};
constexpr std::uint8_t head_kinds = 1U << HMN_CACHE_FULL | 1U << HMN_CACHE_WINDOW;
constexpr std::uint8_t window_kinds = 1U << HMN_CACHE_WINDOW;
constexpr std::uint8_t latent_kinds = 1U << HMN_CACHE_LATENT;
constexpr std::uint8_t state_kinds = 1U << HMN_CACHE_STATE;
constexpr CacheField cache_fields[] = {
    {"layers", &hmn_cache::layers, head_kinds | latent_kinds | state_kinds,
     head_kinds | latent_kinds | state_kinds},
    {"kv_heads", &hmn_cache::kv_heads, head_kinds, head_kinds},
    {"row_dim", &hmn_cache::row_dim, head_kinds, head_kinds},
    {"window", &hmn_cache::window, window_kinds, window_kinds},
    {"sinks", &hmn_cache::sinks, 0, window_kinds},
    {"latent_dim", &hmn_cache::latent_dim, latent_kinds, latent_kinds},
    {"state_elements", &hmn_cache::state_elements, state_kinds, state_kinds},
};

bool check_cache_fields(ArgumentCheck& check, const hmn_cache& cache) {
  if (cache.kind > HMN_CACHE_STATE)
    return check.refuse(Status::range, "kind", cache.kind, " is not a cache kind");
  for (const CacheField& field : cache_fields) {
    const std::uint64_t value = cache.*field.value;
    if (value == 0 && (field.required_kinds >> cache.kind & 1U) != 0) {
      return check.refuse(Status::range, field.name, value, ", but this kind of cache needs it");
    }
    if (value != 0 && (field.allowed_kinds >> cache.kind & 1U) == 0) {
      return check.refuse(Status::argument, field.name, value,
                          ", but this kind of cache does not use it");
    }
  }
  return true;
}

bool read_cache(ArgumentCheck& check, const hmn_cache* input, estimate::Cache& out) {
  hmn_cache cache{};
  if (!check.read(input, "cache is NULL", HMN_CACHE_SIZE_V1, &cache, sizeof cache) ||
      !check_bits(check, "flags", cache.flags) ||
      !check_bits(check, "reserved0", cache.reserved0) || !check_cache_fields(check, cache) ||
      !read_packing(check, cache.dtype, {cache.element_bits, cache.group_size, cache.group_bits},
                    out.elements)) {
    return false;
  }
  out.kind = static_cast<estimate::CacheKind>(cache.kind);
  out.layers = cache.layers;
  out.kv_heads = cache.kv_heads;
  out.row_dim = cache.row_dim;
  out.window = cache.window;
  out.sinks = cache.sinks;
  out.latent_dim = cache.latent_dim;
  out.state_elements = cache.state_elements;
  return true;
}

bool check_not_zero(ArgumentCheck& check, const char* field, std::uint64_t value) {
  return value != 0 || check.refuse(Status::range, field, value, ", expected at least 1");
}

bool read_attention(ArgumentCheck& check, const hmn_attention* input, estimate::Attention& out) {
  hmn_attention attention{};
  if (!check.read(input, "attention is NULL", HMN_ATTENTION_SIZE_V1, &attention,
                  sizeof attention) ||
      !check_bits(check, "flags", attention.flags & ~hmn_flags{HMN_ATTENTION_FUSED}) ||
      !check_bits(check, "reserved0", attention.reserved0) ||
      !read_dtype(check, attention.dtype, out.element_bits) ||
      !check_not_zero(check, "heads", attention.heads) ||
      !check_not_zero(check, "sequence", attention.sequence) ||
      !check_not_zero(check, "head_dim", attention.head_dim)) {
    return false;
  }
  if (attention.kv_heads > attention.heads)
    return check.refuse(Status::range, "kv_heads", attention.kv_heads, " is above heads");
  out.fused = (attention.flags & HMN_ATTENTION_FUSED) != 0;
  out.batch = attention.batch != 0 ? attention.batch : 1;
  out.heads = attention.heads;
  out.kv_heads = attention.kv_heads != 0 ? attention.kv_heads : attention.heads;
  out.sequence = attention.sequence;
  out.head_dim = attention.head_dim;
  return true;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_estimate_tensor(const uint64_t* shape, uint32_t rank, uint32_t dtype, uint64_t* out,
                               hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck& check) -> OptionalBytes {
    estimate::Packing packing;
    if (!check_shape(check, shape, rank) || !read_dtype(check, dtype, packing.element_bits))
      return {};
    return estimate::tensor_bytes({shape, rank}, packing);
  });
}

hmn_status hmn_estimate_packed(const uint64_t* shape, uint32_t rank, const hmn_packing* packing,
                               uint64_t* out, hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck& check) -> OptionalBytes {
    hmn_packing full_packing{};
    estimate::Packing layout;
    if (!check_shape(check, shape, rank) ||
        !check.read(packing, "packing is NULL", HMN_PACKING_SIZE_V1, &full_packing,
                    sizeof full_packing) ||
        !check_bits(check, "flags", full_packing.flags) ||
        !read_packing(check, full_packing.dtype,
                      {full_packing.element_bits, full_packing.group_size, full_packing.group_bits},
                      layout)) {
      return {};
    }
    return estimate::tensor_bytes({shape, rank}, layout);
  });
}

hmn_status hmn_estimate_attention(const hmn_attention* attention, uint64_t* out,
                                  hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck& check) -> OptionalBytes {
    estimate::Attention attention_shape;
    if (!read_attention(check, attention, attention_shape)) return {};
    return estimate::attention_bytes(attention_shape);
  });
}

hmn_status hmn_estimate_cache(const hmn_cache* cache, uint64_t sequence, uint64_t sequences,
                              uint64_t* out, hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck& check) -> OptionalBytes {
    estimate::Cache cache_shape;
    if (!read_cache(check, cache, cache_shape)) return {};
    return estimate::cache_bytes(cache_shape, sequence, sequences);
  });
}

hmn_status hmn_estimate_overhead(uint64_t bytes, uint32_t per_thousand, uint64_t* out,
                                 hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck&) {
    return estimate::add_overhead(bytes, per_thousand != 0 ? per_thousand : default_overhead);
  });
}

hmn_status hmn_estimate_sum(const uint64_t* bytes, uint32_t count, uint64_t* out,
                            hmn_error* error) noexcept {
  return run_estimate(out, error, [&](ArgumentCheck& check) -> OptionalBytes {
    if (bytes == nullptr && count != 0 && !check.refuse_null("bytes is NULL and count is not 0"))
      return {};
    return estimate::sum({bytes, count});
  });
}
