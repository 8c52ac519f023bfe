# SPDX-License-Identifier: MIT OR Apache-2.0
"""The output of free_memory in every language on machines where less can be allocated than a device reports as free."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/machines"
BUDGET = ROOT / "tests/bindings/machines/budget.json"
A100 = "NVIDIA A100-PCIE-40GB"

# Size, machine, exit status, lines.
CASES = [
    # The memory of a partitioned GPU belongs to its partitions.
    ("5GiB", EXAMPLES / "mig-a100.json", 0,
     f"GPU 0 [{A100}]: free memory is not known\nGPU 1 [{A100} MIG 3g.20gb]: 1.5 GiB free, does not fit\n"
     f"GPU 2 [{A100} MIG 2g.10gb]: 5.1 GiB free, fits\nGPU 3 [{A100} MIG 1g.5gb]: 4.7 GiB free, does not fit\n"
     "GPU 2 has most\n"),
    # A GB10 can use what its host has available: 78.25 GiB.
    (str(313 << 28), EXAMPLES / "unified-gb10.json", 0,
     "GPU 0 [NVIDIA GB10]: 78.2 GiB free, fits\nGPU 0 has most\n"),
    (str((313 << 28) + 1), EXAMPLES / "unified-gb10.json", 1,
     "GPU 0 [NVIDIA GB10]: 78.2 GiB free, does not fit\nno GPU has 78.3 GiB free\n"),
    # 13 GiB are free, and the budget is 2 GiB.
    (str(2 << 30), BUDGET, 0, "GPU 0 [Card]: 2.0 GiB free, fits\nGPU 0 has most\n"),
    (str((2 << 30) + 1), BUDGET, 1, "GPU 0 [Card]: 2.0 GiB free, does not fit\nno GPU has 2.0 GiB free\n"),
]
