# SPDX-License-Identifier: MIT OR Apache-2.0
"""fit.py DTYPE TOKENS: the GPUs on which Llama 3.1 8B fits, for instance fit.py bf16 8192."""
import sys

import hypomnesis
from hypomnesis import CacheKind, Dtype, estimate_cache, estimate_overhead, estimate_tensor

PARAMETERS = 8_030_261_248


def estimate(dtype: int, tokens: int) -> int:
    """Weights as stored, keys and values of each token in 16 bits, and 10 % overhead."""
    weights = estimate_tensor([PARAMETERS], dtype)
    keys = estimate_cache(CacheKind.FULL, Dtype.F16, layers=32, kv_heads=8, row_dim=128, sequence=tokens)
    cache = 2 * keys
    total = estimate_overhead(weights + cache)
    for label, count in (("weights", weights), ("cache", cache), ("with a tenth more", total)):
        print(f"{label}: {hypomnesis.format_bytes(count)}")
    return total


def fits(context: hypomnesis.Context, index: int, count: int) -> bool:
    try:
        answer = context.tracker(index).would_fit(count)
    except hypomnesis.Error:
        print(f"GPU {index}: not known")
        return False
    print(f"GPU {index}: {'fits' if answer else 'does not fit'}")
    return answer


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("usage: fit.py DTYPE TOKENS, for instance fit.py bf16 8192")
    count = estimate(hypomnesis.dtype_from_name(sys.argv[1]), int(sys.argv[2]))
    with hypomnesis.Context(hypomnesis.ContextFlag.ENVIRONMENT) as context:
        return 0 if any([fits(context, i, count) for i in range(context.scan().count)]) else 1


if __name__ == "__main__":
    sys.exit(main())
