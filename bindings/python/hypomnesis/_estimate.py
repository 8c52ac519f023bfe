# SPDX-License-Identifier: MIT OR Apache-2.0
"""The memory that a model will need, by arithmetic alone: neither drivers nor a context are used."""
from __future__ import annotations

from collections.abc import Sequence

from ._constants import Dtype
from ._native import raw


def dtype_bits(dtype: int) -> int:
    """How many bits a Dtype has; 0 for an unknown number."""
    return raw.dtype_bits(dtype)


def dtype_name(dtype: int) -> str:
    """A dtype's name, for instance "bf16"; "unknown" for an unknown number."""
    return raw.dtype_name(dtype)


def dtype_from_name(name: str) -> Dtype:
    """The Dtype by its name in candle, torch, safetensors, numpy or C: "F32", "torch.float32", "fp8".

    The number in a name counts bits: "f4" has 4. ArgumentError: no such name.
    """
    return Dtype(raw.dtype_from_name(name))


def estimate_tensor(shape: Sequence[int], dtype: int) -> int:
    """Bytes of a tensor; without a dimension it is one element.

    RangeError: no such Dtype. TooLargeError, as from the functions below: 2**64 bytes or more.
    """
    return raw.estimate_tensor(shape, dtype)


def estimate_packed(shape: Sequence[int], dtype: int = 0, *, element_bits: int = 0, group_size: int = 0,
                    group_bits: int = 0) -> int:
    """Bytes of a tensor whose elements lie in groups along the last dimension.

    element_bits: instead of a dtype, for elements of 2, 3 or 5 bits.
    group_size: elements that share a scale; 0: no groups.
    group_bits: bits of a group in addition to its elements: scale, zero point.
    """
    return raw.estimate_packed(shape, dtype, element_bits, group_size, group_bits)


def estimate_attention(dtype: int, *, heads: int, sequence: int, head_dim: int, kv_heads: int = 0,
                       batch: int = 1, fused: bool = False) -> int:
    """Bytes of queries, keys, values, scores and output of one layer.

    kv_heads: 0 is heads. fused: scores are never stored as a whole (flash attention).
    """
    flags = raw.ATTENTION_FUSED if fused else 0
    return raw.estimate_attention(flags, dtype, batch, heads, kv_heads, sequence, head_dim)


def estimate_cache(kind: int, dtype: int, *, layers: int, sequence: int, sequences: int = 1,
                   kv_heads: int = 0, row_dim: int = 0, window: int = 0, sinks: int = 0,
                   latent_dim: int = 0, state_elements: int = 0,
                   element_bits: int = 0, group_size: int = 0, group_bits: int = 0) -> int:
    """Bytes of the cache of equal layers, once `sequence` tokens are in it.

    kind: a CacheKind, which determines the other arguments. Keys and values are two caches, which may
    have different types, and a hybrid model has more: estimate_sum adds them.
    sequences: number of sequences of that length, batch times users.
    row_dim: elements of one head's key, or of its value. latent_dim: kv_lora_rank + qk_rope_head_dim.
    state_elements: those of one layer, including its convolution's.
    element_bits (with dtype 0), group_size, group_bits: as for estimate_packed.
    """
    return raw.estimate_cache(kind, dtype, element_bits, group_size, group_bits, layers, kv_heads,
                              row_dim, window, sinks, latent_dim, state_elements, sequence, sequences)


def estimate_overhead(count: int, per_thousand: int = 0) -> int:
    """count * per_thousand / 1000 bytes, rounded up; per_thousand 0 is 1100, a tenth more."""
    return raw.estimate_overhead(count, per_thousand)


def estimate_sum(counts: Sequence[int]) -> int:
    """The sum of sizes."""
    return raw.estimate_sum(counts)
