# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where a value came from, and what it means."""
from __future__ import annotations

from enum import IntEnum, IntFlag

from ._native import raw


class Backend(IntEnum):
    """Who measured."""

    NONE = raw.BACKEND_NONE
    OS = raw.BACKEND_OS
    NVML = raw.BACKEND_NVML
    NVIDIA_SMI = raw.BACKEND_NVIDIA_SMI
    AMDGPU = raw.BACKEND_AMDGPU  # AMD's kernel driver: sysfs and fdinfo
    KFD = raw.BACKEND_KFD  # AMD's compute driver: what compute processes use
    ROCM_SMI = raw.BACKEND_ROCM_SMI  # AMD's rocm-smi command, when the kernel does not tell
    I915 = raw.BACKEND_I915  # Intel's older kernel driver
    XE = raw.BACKEND_XE  # Intel's newer kernel driver
    DRM = raw.BACKEND_DRM  # any kernel DRM driver: sysfs, and the fdinfo files of its clients
    DXGI = raw.BACKEND_DXGI  # Windows: the adapters, and what the caller may use of them
    PDH = raw.BACKEND_PDH  # Windows: the performance counters of adapters and processes
    METAL = raw.BACKEND_METAL  # macOS: Metal, and the system's registry of GPUs
    MACMON = raw.BACKEND_MACMON  # macOS: the macmon command
    TEGRA = raw.BACKEND_TEGRA  # NVIDIA's SoCs (Jetson): sysfs
    DMEM = raw.BACKEND_DMEM  # the kernel's control group of device memory
    SIMULATED = raw.BACKEND_SIMULATED  # a machine described by a file: nothing was measured
    AMD_SMI = raw.BACKEND_AMD_SMI  # AMD's amd-smi command, when the kernel does not tell


class Note(IntFlag):
    """Remarks on a result: bits of its ``notes``."""

    STALE = raw.NOTE_STALE  # the last known value, age_ns old: the driver did not answer
    LOWER_BOUND = raw.NOTE_LOWER_BOUND  # some of it could not be seen
    ESTIMATED = raw.NOTE_ESTIMATED  # derived from other values, not measured
    TRUNCATED = raw.NOTE_TRUNCATED  # a text was cut
    MIXED = raw.NOTE_MIXED  # several backends; ``backend`` is that of the first
    FOREIGN_PID = raw.NOTE_FOREIGN_PID  # pid belongs to another PID namespace
    PARTIAL = raw.NOTE_PARTIAL  # something asked for is missing: see the diagnostics
    TRACE = raw.NOTE_TRACE  # diagnostics: a driver call, recorded by ContextFlag.TRACE


class Scope(IntEnum):
    """Whose figure it is."""

    NONE = raw.SCOPE_NONE
    PROCESS = raw.SCOPE_PROCESS
    DEVICE = raw.SCOPE_DEVICE


class Accounting(IntEnum):
    """What a number of bytes counts."""

    NONE = raw.ACCOUNT_NONE
    RESIDENT = raw.ACCOUNT_RESIDENT  # has backing store now
    COMMITTED = raw.ACCOUNT_COMMITTED  # promised, whether backed or not
    ALLOCATED = raw.ACCOUNT_ALLOCATED  # as the driver accounts allocations (NVML)


class NativeDomain(IntEnum):
    """Whose number a native code is."""

    NONE = raw.NATIVE_NONE
    ERRNO = raw.NATIVE_ERRNO
    WIN32 = raw.NATIVE_WIN32  # GetLastError
    HRESULT = raw.NATIVE_HRESULT  # HRESULT
    NTSTATUS = raw.NATIVE_NTSTATUS  # NTSTATUS
    PDH = raw.NATIVE_PDH  # PDH_STATUS
    KERN = raw.NATIVE_KERN  # kern_return_t
    NVML = raw.NATIVE_NVML  # nvmlReturn_t
    EXIT = raw.NATIVE_EXIT  # exit code of a helper program; 128 + n: killed by signal n


class State(IntEnum):
    """What a backend or a device is doing."""

    UNKNOWN = raw.STATE_UNKNOWN  # not tried yet
    READY = raw.STATE_READY  # answers
    ASLEEP = raw.STATE_ASLEEP  # runtime suspended; only identity and totals are known
    LOST = raw.STATE_LOST  # was here and is gone
    UNREADABLE = raw.STATE_UNREADABLE  # here, and answers with errors
    HUNG = raw.STATE_HUNG  # a driver call has not returned
    ABSENT = raw.STATE_ABSENT  # not on this machine
    OFF = raw.STATE_OFF  # switched off by the context or not compiled in
