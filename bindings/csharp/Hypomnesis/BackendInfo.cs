// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>How a backend fares; for doctors and bug reports.</summary>
public sealed record BackendInfo
{
    /// <summary>Remarks on this result.</summary>
    public Notes Notes { get; init; }
    /// <summary>Which backend it is.</summary>
    public Backend Backend { get; init; }
    /// <summary>What it is doing.</summary>
    public State State { get; init; }
    /// <summary><see cref="Status.Ok"/>, or why it cannot serve.</summary>
    public Status Status { get; init; }
    /// <summary>Whose number <see cref="NativeCode"/> is.</summary>
    public NativeDomain NativeDomain { get; init; }
    /// <summary>The driver's or the system's own number.</summary>
    public int NativeCode { get; init; }
    /// <summary>The version of the driver or tool behind it, or null.</summary>
    public string? Version { get; init; }
    /// <summary>Why it cannot serve, and what can be done; empty when it can.</summary>
    public string Message { get; init; } = "";

    internal static unsafe BackendInfo From(IntPtr record)
    {
        var from = (BackendInfoRecord*)record;
        return new BackendInfo
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            State = (State)from->State,
            Status = (Status)from->Status,
            NativeDomain = (NativeDomain)from->NativeDomain,
            NativeCode = from->NativeCode,
            Version = from->Version,
            Message = from->Message,
        };
    }
}
