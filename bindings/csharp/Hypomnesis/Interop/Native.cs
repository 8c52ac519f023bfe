// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;

namespace Hypomnesis.Interop;

/// <summary>Reads a record in place.</summary>
internal delegate TValue Copy<TValue>(IntPtr record);

/// <summary>What every call of the raw layer needs.</summary>
internal static class Native
{
    /// <summary>A record for the error of a call.</summary>
    internal static ErrorRecord NewError() => new() { struct_size = ErrorRecord.Size };

    /// <summary>Copies a record that the caller owns and frees it; null when there is none.</summary>
    internal static T? Take<T>(IntPtr record, ref ErrorRecord error, Copy<T> copy) where T : class
    {
        HypomnesisException.ThrowIfFailed(ref error);
        if (record == IntPtr.Zero)
            return null;
        try
        {
            return copy(record);
        }
        finally
        {
            Raw.release(record);
        }
    }

    /// <summary>As <see cref="Take{T}"/>, for calls that return a record whenever they succeed.</summary>
    internal static T TakeRequired<T>(IntPtr record, ref ErrorRecord error, Copy<T> copy) where T : class =>
        Take(record, ref error, copy) ?? throw new InvalidOperationException("no record and no error");

    internal static IReadOnlyList<T> List<T>(uint count, Func<uint, T> read)
    {
        var items = new T[count];
        for (uint i = 0; i < count; i++)
            items[i] = read(i);
        return new ReadOnlyCollection<T>(items);
    }
}
