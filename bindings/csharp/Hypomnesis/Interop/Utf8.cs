// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Text;

namespace Hypomnesis.Interop;

/// <summary>Text between .NET and C.</summary>
internal static unsafe class Utf8
{
    /// <summary>Terminated UTF-8; null stays null.</summary>
    /// <exception cref="HypomnesisArgumentException">The text has a NUL, at which C would cut it.</exception>
    internal static byte[]? Bytes(string? text)
    {
        if (text is null)
            return null;
        if (text.IndexOf('\0') >= 0)
            throw new HypomnesisArgumentException(new ErrorDetail(Status.Argument, "The text holds a NUL character."));
        var bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
        Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
        return bytes;
    }

    /// <summary>A char[N] field.</summary>
    internal static string Text(ref byte first, int capacity)
    {
        fixed (byte* text = &first)
            return Decode(text, capacity);
    }

    /// <summary>The text at an address, or null; a text that the caller owns is freed.</summary>
    internal static string? Read(IntPtr address, bool isOwned)
    {
        if (address == IntPtr.Zero)
            return null;
        try
        {
            return Decode((byte*)address, int.MaxValue);
        }
        finally
        {
            if (isOwned)
                Raw.release(address);
        }
    }

    private static string Decode(byte* text, int capacity)
    {
        var length = 0;
        while (length < capacity && text[length] != 0)
            length++;
        return length == 0 ? "" : Encoding.UTF8.GetString(text, length);
    }
}
