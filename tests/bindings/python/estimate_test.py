# SPDX-License-Identifier: MIT OR Apache-2.0
"""Estimates."""
import unittest

import hypomnesis
from hypomnesis import CacheKind, Dtype
from support import run_suite


class Dtypes(unittest.TestCase):
    def test_names_and_bits(self):
        self.assertEqual(hypomnesis.dtype_from_name("torch.float32"), Dtype.F32)
        self.assertEqual(hypomnesis.dtype_name(Dtype.F8E4M3), "f8e4m3")
        self.assertEqual(hypomnesis.dtype_bits(Dtype.I4), 4)
        with self.assertRaises(hypomnesis.ArgumentError):
            hypomnesis.dtype_from_name("invalid")


class Estimates(unittest.TestCase):
    def test_tensors(self):
        self.assertEqual(hypomnesis.estimate_tensor([10, 100], Dtype.F32), 4000)
        self.assertEqual(hypomnesis.estimate_tensor((), Dtype.F32), 4)
        self.assertEqual(hypomnesis.estimate_tensor([2**64 - 1], Dtype.U8), 2**64 - 1)
        with self.assertRaises(hypomnesis.TooLargeError):
            hypomnesis.estimate_tensor([2**64 - 1, 2], Dtype.U8)
        with self.assertRaises(hypomnesis.RangeError):
            hypomnesis.estimate_tensor([1], Dtype.UNKNOWN)

    def test_what_is_no_list_of_numbers(self):
        for wrong in (3, ["a"], [1.5], None):
            with self.assertRaises(TypeError):
                hypomnesis.estimate_tensor(wrong, Dtype.U8)
        for wrong in ([-1], [1, 2**64]):
            with self.assertRaises(OverflowError):
                hypomnesis.estimate_tensor(wrong, Dtype.U8)

    def test_packed(self):
        self.assertEqual(
            hypomnesis.estimate_packed([2, 32], Dtype.I4, group_size=32, group_bits=16), 36)
        self.assertEqual(hypomnesis.estimate_packed([8], element_bits=3), 3)

    def test_attention(self):
        self.assertEqual(
            hypomnesis.estimate_attention(Dtype.F32, heads=1, sequence=4, head_dim=2), 192)
        self.assertEqual(
            hypomnesis.estimate_attention(Dtype.F32, heads=1, sequence=4, head_dim=2, fused=True), 128)

    def test_caches(self):
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

    def test_overhead_and_sum(self):
        self.assertEqual(hypomnesis.estimate_overhead(1000), 1100)
        self.assertEqual(hypomnesis.estimate_overhead(10, 1050), 11)
        self.assertEqual(hypomnesis.estimate_sum([1, 2, 3]), 6)


if __name__ == "__main__":
    run_suite()
