// SPDX-License-Identifier: MIT OR Apache-2.0
using System;

namespace Hypomnesis.Interop;

internal static unsafe class Optional
{
    /// <summary>The value at an address, or null where there is none.</summary>
    internal static T? Read<T>(IntPtr address) where T : unmanaged =>
        address == IntPtr.Zero ? null : *(T*)address;
}
