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
