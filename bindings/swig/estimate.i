// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 64-bit numbers is passed as (list, count); an estimate that failed is 0.
%rename(dtype_bits) hmn_dtype_bits;
%rename(dtype_name) hmn_dtype_name;
uint32_t hmn_dtype_bits(uint32_t dtype);
const char *hmn_dtype_name(uint32_t dtype);

%inline %{
uint32_t dtype_from_name(const char *name, hmn_error *error) {
  uint32_t dtype = 0;
  hmn_dtype_from_name(name, &dtype, error);
  return dtype;
}
uint64_t estimate_tensor(const hmn_u64 *list, uint32_t count, uint32_t dtype, hmn_error *error) {
  uint64_t bytes = 0;
  hmn_estimate_tensor(list, count, dtype, &bytes, error);
  return bytes;
}
uint64_t estimate_packed(const hmn_u64 *list, uint32_t count, uint32_t dtype, uint32_t element_bits,
                         uint32_t group_size, uint32_t group_bits, hmn_error *error) {
  hmn_packing packing = {sizeof packing};
  uint64_t bytes = 0;
  packing.dtype = dtype;
  packing.element_bits = element_bits;
  packing.group_size = group_size;
  packing.group_bits = group_bits;
  hmn_estimate_packed(list, count, &packing, &bytes, error);
  return bytes;
}
uint64_t estimate_attention(hmn_flags flags, uint32_t dtype, uint64_t batch, uint64_t heads, uint64_t kv_heads,
                            uint64_t sequence, uint64_t head_dim, hmn_error *error) {
  hmn_attention attention = {sizeof attention};
  uint64_t bytes = 0;
  attention.flags = flags;
  attention.dtype = dtype;
  attention.batch = batch;
  attention.heads = heads;
  attention.kv_heads = kv_heads;
  attention.sequence = sequence;
  attention.head_dim = head_dim;
  hmn_estimate_attention(&attention, &bytes, error);
  return bytes;
}
uint64_t estimate_cache(uint32_t kind, uint32_t dtype, uint32_t element_bits, uint32_t group_size,
                        uint32_t group_bits, uint64_t layers, uint64_t kv_heads, uint64_t row_dim,
                        uint64_t window, uint64_t sinks, uint64_t latent_dim, uint64_t state_elements,
                        uint64_t sequence, uint64_t sequences, hmn_error *error) {
  hmn_cache cache = {sizeof cache};
  uint64_t bytes = 0;
  cache.kind = kind;
  cache.dtype = dtype;
  cache.element_bits = element_bits;
  cache.group_size = group_size;
  cache.group_bits = group_bits;
  cache.layers = layers;
  cache.kv_heads = kv_heads;
  cache.row_dim = row_dim;
  cache.window = window;
  cache.sinks = sinks;
  cache.latent_dim = latent_dim;
  cache.state_elements = state_elements;
  hmn_estimate_cache(&cache, sequence, sequences, &bytes, error);
  return bytes;
}
uint64_t estimate_overhead(uint64_t bytes, uint32_t per_thousand, hmn_error *error) {
  uint64_t more = 0;
  hmn_estimate_overhead(bytes, per_thousand, &more, error);
  return more;
}
uint64_t estimate_sum(const hmn_u64 *list, uint32_t count, hmn_error *error) {
  uint64_t bytes = 0;
  hmn_estimate_sum(list, count, &bytes, error);
  return bytes;
}
%}
