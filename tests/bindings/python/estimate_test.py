# SPDX-License-Identifier: MIT OR Apache-2.0
"""Estimates."""
import unittest

import hypomnesis
from hypomnesis import CacheKind, Dtype
from support import run_suite


class Dtypes(unittest.TestCase):
    def test_dtypes_have_names_and_bits(self):
        self.assertEqual(hypomnesis.dtype_from_name("torch.float32"), Dtype.F32)
        self.assertEqual(hypomnesis.dtype_name(Dtype.F8E4M3), "f8e4m3")
        self.assertEqual(hypomnesis.dtype_bits(Dtype.I4), 4)
        with self.assertRaises(hypomnesis.ArgumentError):
            hypomnesis.dtype_from_name("invalid")


class Estimates(unittest.TestCase):
    def test_a_tensor_estimate_is_exact_and_refuses_overflow(self):
        self.assertEqual(hypomnesis.estimate_tensor([10, 100], Dtype.F32), 4000)
        self.assertEqual(hypomnesis.estimate_tensor((), Dtype.F32), 4)
        self.assertEqual(hypomnesis.estimate_tensor([2**64 - 1], Dtype.U8), 2**64 - 1)
        with self.assertRaises(hypomnesis.TooLargeError):
            hypomnesis.estimate_tensor([2**64 - 1, 2], Dtype.U8)
        with self.assertRaises(hypomnesis.RangeError):
            hypomnesis.estimate_tensor([1], Dtype.UNKNOWN)

    def test_a_shape_must_be_a_list_of_unsigned_integers(self):
        for shape in (3, ["a"], [1.5], None, [-1], [1, 2**64]):
            with self.assertRaisesRegex(hypomnesis.ArgumentError, "^shape: "):
                hypomnesis.estimate_tensor(shape, Dtype.U8)

    def test_a_packed_estimate_counts_the_bits_of_groups(self):
        self.assertEqual(
            hypomnesis.estimate_packed([2, 32], Dtype.I4, group_size=32, group_bits=16), 36)
        self.assertEqual(hypomnesis.estimate_packed([8], element_bits=3), 3)

    def test_a_fused_attention_needs_less_memory(self):
        self.assertEqual(
            hypomnesis.estimate_attention(Dtype.F32, heads=1, sequence=4, head_dim=2), 192)
        self.assertEqual(
            hypomnesis.estimate_attention(Dtype.F32, heads=1, sequence=4, head_dim=2, fused=True), 128)

    def test_a_cache_estimate_depends_on_its_kind(self):
        full = dict(layers=80, kv_heads=8, row_dim=128)
        self.assertEqual(
            hypomnesis.estimate_cache(CacheKind.FULL, Dtype.F16, sequence=1, **full), 163840)
        self.assertEqual(
            hypomnesis.estimate_cache(CacheKind.WINDOW, Dtype.F16, sequence=10000, window=2044, sinks=4,
                                      **full), 335544320)
        self.assertEqual(
            hypomnesis.estimate_cache(CacheKind.LATENT, Dtype.BF16, layers=61, latent_dim=576,
                                      sequence=1), 61 * 1152)
        self.assertEqual(
            hypomnesis.estimate_cache(CacheKind.STATE, Dtype.F16, layers=48, state_elements=64,
                                      sequence=1024, sequences=2), 12288)
        with self.assertRaises(hypomnesis.ArgumentError):
            hypomnesis.estimate_cache(CacheKind.FULL, Dtype.F16, sequence=1, window=1, **full)

    def test_overhead_is_rounded_up_and_sums_are_exact(self):
        self.assertEqual(hypomnesis.estimate_overhead(1000), 1100)
        self.assertEqual(hypomnesis.estimate_overhead(10, 1050), 11)
        self.assertEqual(hypomnesis.estimate_sum([1, 2, 3]), 6)


if __name__ == "__main__":
    run_suite()
