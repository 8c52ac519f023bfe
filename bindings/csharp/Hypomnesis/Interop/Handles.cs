// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

/// <summary>A hmn_context. A call that is under way keeps it from being ended.</summary>
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

/// <summary>A hmn_snapshot. A call that is under way keeps it from being ended.</summary>
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

/// <summary>A hmn_sampler. A call that is under way keeps it from being ended.</summary>
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

/// <summary>A hmn_tracker. A call that is under way keeps it from being ended.</summary>
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

/// <summary>A hmn_spill. A call that is under way keeps it from being ended.</summary>
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
