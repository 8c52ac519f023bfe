// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

/// <summary>An hmn_context. It is not destroyed during a call.</summary>
internal sealed class ContextHandle : SafeHandle
{
    public ContextHandle() : base(IntPtr.Zero, ownsHandle: true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Raw.end_context(handle);
        return true;
    }
}

/// <summary>An hmn_snapshot. It is not destroyed during a call.</summary>
internal sealed class SnapshotHandle : SafeHandle
{
    public SnapshotHandle() : base(IntPtr.Zero, ownsHandle: true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Raw.end_snapshot(handle);
        return true;
    }
}

/// <summary>An hmn_sampler. It is not destroyed during a call.</summary>
internal sealed class SamplerHandle : SafeHandle
{
    public SamplerHandle() : base(IntPtr.Zero, ownsHandle: true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Raw.end_sampler(handle);
        return true;
    }
}

/// <summary>An hmn_tracker. It is not destroyed during a call.</summary>
internal sealed class TrackerHandle : SafeHandle
{
    public TrackerHandle() : base(IntPtr.Zero, ownsHandle: true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Raw.end_tracker(handle);
        return true;
    }
}

/// <summary>An hmn_spill. It is not destroyed during a call.</summary>
internal sealed class SpillHandle : SafeHandle
{
    public SpillHandle() : base(IntPtr.Zero, ownsHandle: true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Raw.end_spill(handle);
        return true;
    }
}
