// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/estimate.hpp"

#include <hypomnesis.h>

#include <optional>

#include "api/guard.hpp"
#include "model/dtype.hpp"
#include "model/message_text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t usual_overhead = 1100;  // per thousand
constexpr std::uint32_t most_element_bits = 64;

// Result of an estimate's argument checks, of which the first failed one counts.
class Verdict {
 public:
  bool refuse(Status code, const char* field, std::uint64_t value, const char* why) {
    said_ = failed(code, {field, ": ", value, why});
    return false;
  }
  bool refuse_null(const char* what) {
    said_ = null_argument(what);
    return false;
  }
  // Reads a caller's struct that has no default.
  bool read(const void* what, const char* is_null, std::uint32_t first_size, void* full,
            std::uint32_t known_size) {
    if (what == nullptr) return refuse_null(is_null);
    said_ = read_sized(what, first_size, full, known_size);
    return static_cast<bool>(said_);
  }
  Result<void> said(const std::optional<std::uint64_t>& bytes, std::uint64_t& out) {
    if (!said_) return std::move(said_);
    if (!bytes) return failed(Status::overflow, "the result is 2^64 or more");
    out = *bytes;
    return {};
  }

 private:
  Result<void> said_;
};

using BytesOrNone = std::optional<std::uint64_t>;

// Common entry of all estimates. `body` returns nothing for a failed check or an overflow.
hmn_status estimate_into(std::uint64_t* out, hmn_error* error,
                         FunctionRef<BytesOrNone(Verdict&)> body) noexcept {
  clear_out(out);
  return guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    Verdict v;
    const BytesOrNone bytes = body(v);
    return v.said(bytes, *out);
  });
}

bool check_shape(Verdict& v, const std::uint64_t* shape, std::uint32_t rank) {
  return shape != nullptr || rank == 0 || v.refuse_null("shape is NULL and rank is not 0");
}

bool check_bits(Verdict& v, const char* field, std::uint32_t unknown) {
  return unknown == 0 || v.refuse(Status::unknown_flag, field, unknown, " has unknown bits");
}

bool read_dtype(Verdict& v, std::uint32_t dtype, std::uint32_t& bits) {
  bits = bits_of_dtype(dtype);
  return bits != 0 || v.refuse(Status::range, "dtype", dtype, " is not a known dtype");
}

// Reads the packing of hmn_packing and of hmn_cache.
bool read_packing(Verdict& v, std::uint32_t dtype, const estimate::Packing& given,
                  estimate::Packing& out) {
  out = given;
  if (given.group_bits != 0 && given.group_size == 0) {
    return v.refuse(Status::argument, "group_bits", given.group_bits, " is set without group_size");
  }
  if ((dtype == 0) == (given.element_bits == 0)) {
    return v.refuse(Status::argument, "element_bits", given.element_bits,
                    ", expected either this or dtype");
  }
  if (given.element_bits > most_element_bits) {
    return v.refuse(Status::range, "element_bits", given.element_bits, " is above 64");
  }
  return dtype == 0 || read_dtype(v, dtype, out.element_bits);
}

// Field of hmn_cache and the kinds of cache that need or allow it.
struct CacheField {
  const char* name;
  std::uint64_t hmn_cache::*value;
  std::uint8_t needed;  // bit k: needed by kind k
  std::uint8_t taken;
};
constexpr std::uint8_t heads = 1U << HMN_CACHE_FULL | 1U << HMN_CACHE_WINDOW;
constexpr std::uint8_t window = 1U << HMN_CACHE_WINDOW;
constexpr std::uint8_t latent = 1U << HMN_CACHE_LATENT;
constexpr std::uint8_t state = 1U << HMN_CACHE_STATE;
constexpr CacheField cache_fields[] = {
    {"layers", &hmn_cache::layers, heads | latent | state, heads | latent | state},
    {"kv_heads", &hmn_cache::kv_heads, heads, heads},
    {"row_dim", &hmn_cache::row_dim, heads, heads},
    {"window", &hmn_cache::window, window, window},
    {"sinks", &hmn_cache::sinks, 0, window},
    {"latent_dim", &hmn_cache::latent_dim, latent, latent},
    {"state_elements", &hmn_cache::state_elements, state, state},
};

bool check_cache_fields(Verdict& v, const hmn_cache& c) {
  if (c.kind > HMN_CACHE_STATE)
    return v.refuse(Status::range, "kind", c.kind, " is not a cache kind");
  for (const CacheField& f : cache_fields) {
    const std::uint64_t value = c.*f.value;
    if (value == 0 && (f.needed >> c.kind & 1U) != 0) {
      return v.refuse(Status::range, f.name, value, ", but this kind of cache needs it");
    }
    if (value != 0 && (f.taken >> c.kind & 1U) == 0) {
      return v.refuse(Status::argument, f.name, value, ", but this kind of cache does not use it");
    }
  }
  return true;
}

bool read_cache(Verdict& v, const hmn_cache* handed, estimate::Cache& out) {
  hmn_cache c{};
  if (!v.read(handed, "cache is NULL", HMN_CACHE_SIZE_V1, &c, sizeof c) ||
      !check_bits(v, "flags", c.flags) || !check_bits(v, "reserved0", c.reserved0) ||
      !check_cache_fields(v, c) ||
      !read_packing(v, c.dtype, {c.element_bits, c.group_size, c.group_bits}, out.elements)) {
    return false;
  }
  out.kind = static_cast<estimate::CacheKind>(c.kind);
  out.layers = c.layers;
  out.kv_heads = c.kv_heads;
  out.row_dim = c.row_dim;
  out.window = c.window;
  out.sinks = c.sinks;
  out.latent_dim = c.latent_dim;
  out.state_elements = c.state_elements;
  return true;
}

bool check_not_zero(Verdict& v, const char* field, std::uint64_t value) {
  return value != 0 || v.refuse(Status::range, field, value, ", expected at least 1");
}

bool read_attention(Verdict& v, const hmn_attention* handed, estimate::Attention& out) {
  hmn_attention a{};
  if (!v.read(handed, "attention is NULL", HMN_ATTENTION_SIZE_V1, &a, sizeof a) ||
      !check_bits(v, "flags", a.flags & ~hmn_flags{HMN_ATTENTION_FUSED}) ||
      !check_bits(v, "reserved0", a.reserved0) || !read_dtype(v, a.dtype, out.element_bits) ||
      !check_not_zero(v, "heads", a.heads) || !check_not_zero(v, "sequence", a.sequence) ||
      !check_not_zero(v, "head_dim", a.head_dim)) {
    return false;
  }
  if (a.kv_heads > a.heads)
    return v.refuse(Status::range, "kv_heads", a.kv_heads, " is above heads");
  out.fused = (a.flags & HMN_ATTENTION_FUSED) != 0;
  out.batch = a.batch != 0 ? a.batch : 1;
  out.heads = a.heads;
  out.kv_heads = a.kv_heads != 0 ? a.kv_heads : a.heads;
  out.sequence = a.sequence;
  out.head_dim = a.head_dim;
  return true;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_estimate_tensor(const uint64_t* shape, uint32_t rank, uint32_t dtype, uint64_t* out,
                               hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict& v) -> BytesOrNone {
    estimate::Packing p;
    if (!check_shape(v, shape, rank) || !read_dtype(v, dtype, p.element_bits)) return {};
    return estimate::tensor_bytes({shape, rank}, p);
  });
}

hmn_status hmn_estimate_packed(const uint64_t* shape, uint32_t rank, const hmn_packing* packing,
                               uint64_t* out, hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict& v) -> BytesOrNone {
    hmn_packing c{};
    estimate::Packing p;
    if (!check_shape(v, shape, rank) ||
        !v.read(packing, "packing is NULL", HMN_PACKING_SIZE_V1, &c, sizeof c) ||
        !check_bits(v, "flags", c.flags) ||
        !read_packing(v, c.dtype, {c.element_bits, c.group_size, c.group_bits}, p)) {
      return {};
    }
    return estimate::tensor_bytes({shape, rank}, p);
  });
}

hmn_status hmn_estimate_attention(const hmn_attention* attention, uint64_t* out,
                                  hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict& v) -> BytesOrNone {
    estimate::Attention a;
    if (!read_attention(v, attention, a)) return {};
    return estimate::attention_bytes(a);
  });
}

hmn_status hmn_estimate_cache(const hmn_cache* cache, uint64_t sequence, uint64_t sequences,
                              uint64_t* out, hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict& v) -> BytesOrNone {
    estimate::Cache c;
    if (!read_cache(v, cache, c)) return {};
    return estimate::cache_bytes(c, sequence, sequences);
  });
}

hmn_status hmn_estimate_overhead(uint64_t bytes, uint32_t per_thousand, uint64_t* out,
                                 hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict&) {
    return estimate::with_overhead(bytes, per_thousand != 0 ? per_thousand : usual_overhead);
  });
}

hmn_status hmn_estimate_sum(const uint64_t* bytes, uint32_t count, uint64_t* out,
                            hmn_error* error) noexcept {
  return estimate_into(out, error, [&](Verdict& v) -> BytesOrNone {
    if (bytes == nullptr && count != 0 && !v.refuse_null("bytes is NULL and count is not 0"))
      return {};
    return estimate::sum({bytes, count});
  });
}
