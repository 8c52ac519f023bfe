// SPDX-License-Identifier: MIT OR Apache-2.0
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>How a call ended. Numbers are never reused; treat one that you do not know as an error.</summary>
public enum Status
{
    /// <summary>Success.</summary>
    Ok = Raw.OK,
    /// <summary>An argument is null, empty or malformed.</summary>
    Argument = Raw.E_ARGUMENT,
    /// <summary>A struct's size is not one that the library can fill or read.</summary>
    StructSize = Raw.E_STRUCT_SIZE,
    /// <summary>A bit is set that the library does not know.</summary>
    UnknownFlag = Raw.E_UNKNOWN_FLAG,
    /// <summary>An index past the end, or a number outside what is allowed.</summary>
    Range = Raw.E_RANGE,
    /// <summary>The host's memory is exhausted.</summary>
    NoMemory = Raw.E_NO_MEMORY,
    /// <summary>This system, device or driver has no such value.</summary>
    Unsupported = Raw.E_UNSUPPORTED,
    /// <summary>No source of this value is here: no library, no driver, no tool.</summary>
    NoSource = Raw.E_NO_SOURCE,
    /// <summary>No device of that index or key.</summary>
    NoDevice = Raw.E_NO_DEVICE,
    /// <summary>No such process, or it has exited.</summary>
    NoProcess = Raw.E_NO_PROCESS,
    /// <summary>The system or the driver refused.</summary>
    Permission = Raw.E_PERMISSION,
    /// <summary>The driver did not answer within the deadline.</summary>
    Timeout = Raw.E_TIMEOUT,
    /// <summary>The device was there and is gone: unplugged, fallen off, reset.</summary>
    DeviceLost = Raw.E_DEVICE_LOST,
    /// <summary>A driver or tool answered with an error, or with nonsense.</summary>
    Backend = Raw.E_BACKEND,
    /// <summary>A limit was reached.</summary>
    Limit = Raw.E_LIMIT,
    /// <summary>The result does not fit 64 bits.</summary>
    Overflow = Raw.E_OVERFLOW,
    /// <summary>The handle was made by the parent of this process.</summary>
    Forked = Raw.E_FORKED,
    /// <summary>A buffer is too small.</summary>
    Buffer = Raw.E_BUFFER,
    /// <summary>It was not asked for, or there is nothing to give.</summary>
    Empty = Raw.E_EMPTY,
    /// <summary>A defect of the library; please report it.</summary>
    Internal = Raw.E_INTERNAL,
    /// <summary>Answering would have to wake the device.</summary>
    Asleep = Raw.E_ASLEEP,
    /// <summary>The right call at the wrong moment.</summary>
    State = Raw.E_STATE,
}
