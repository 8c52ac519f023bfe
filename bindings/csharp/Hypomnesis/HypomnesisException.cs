// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Details of a failure of the library, for every class of exception.</summary>
public interface IHypomnesisError
{
    /// <summary>Why the call failed.</summary>
    Status Status { get; }

    /// <summary>The backend that failed; <see cref="Backend.None"/>: the library itself refused.</summary>
    Backend Backend { get; }

    /// <summary>Why the value is missing; <see cref="Reason.Unknown"/> also where the call itself was
    /// wrong.</summary>
    Reason Reason { get; }

    /// <summary>The origin of <see cref="NativeCode"/>.</summary>
    NativeDomain NativeDomain { get; }

    /// <summary>The driver's or the system's own number, 0 without a <see cref="NativeDomain"/>.</summary>
    int NativeCode { get; }

    /// <summary>A sentence that names the value and the remedy.</summary>
    string Message { get; }
}

/// <summary>A call failed at run time: the value is not available now, or never. Misuse is an
/// <see cref="ArgumentException"/> instead, as <see cref="HypomnesisArgumentException"/> or
/// <see cref="HypomnesisRangeException"/>.</summary>
public sealed class HypomnesisException : Exception, IHypomnesisError
{
    internal HypomnesisException(in ErrorDetail detail) : base(detail.Message) => Detail = detail;

    private ErrorDetail Detail { get; }

    /// <inheritdoc/>
    public Status Status => Detail.Status;

    /// <inheritdoc/>
    public Backend Backend => Detail.Backend;

    /// <inheritdoc/>
    public Reason Reason => Detail.Reason;

    /// <inheritdoc/>
    public NativeDomain NativeDomain => Detail.NativeDomain;

    /// <inheritdoc/>
    public int NativeCode => Detail.NativeCode;

    internal static void ThrowIfFailed(ref ErrorRecord error)
    {
        if (error.status != Raw.OK)
            throw MakeException(new ErrorDetail(ref error));
    }

    internal static Exception MakeException(in ErrorDetail detail) => detail.Status switch
    {
        Status.Argument or Status.UnknownFlag => new HypomnesisArgumentException(detail),
        Status.Range => new HypomnesisRangeException(detail),
        _ => new HypomnesisException(detail),
    };
}

/// <summary>An argument that the library refuses: <see cref="Status.Argument"/> or
/// <see cref="Status.UnknownFlag"/>.</summary>
public sealed class HypomnesisArgumentException : ArgumentException, IHypomnesisError
{
    internal HypomnesisArgumentException(in ErrorDetail detail) : base(detail.Message) => Detail = detail;

    private ErrorDetail Detail { get; }

    /// <inheritdoc/>
    public Status Status => Detail.Status;

    /// <inheritdoc/>
    public Backend Backend => Detail.Backend;

    /// <inheritdoc/>
    public Reason Reason => Detail.Reason;

    /// <inheritdoc/>
    public NativeDomain NativeDomain => Detail.NativeDomain;

    /// <inheritdoc/>
    public int NativeCode => Detail.NativeCode;
}

/// <summary>An index past the end, or a number outside what is allowed: <see cref="Status.Range"/>.</summary>
public sealed class HypomnesisRangeException : ArgumentOutOfRangeException, IHypomnesisError
{
    internal HypomnesisRangeException(in ErrorDetail detail) : base(null, detail.Message) => Detail = detail;

    private ErrorDetail Detail { get; }

    /// <inheritdoc/>
    public Status Status => Detail.Status;

    /// <inheritdoc/>
    public Backend Backend => Detail.Backend;

    /// <inheritdoc/>
    public Reason Reason => Detail.Reason;

    /// <inheritdoc/>
    public NativeDomain NativeDomain => Detail.NativeDomain;

    /// <inheritdoc/>
    public int NativeCode => Detail.NativeCode;
}

/// <summary>A copy of an hmn_error.</summary>
internal readonly struct ErrorDetail
{
    internal ErrorDetail(ref ErrorRecord error)
    {
        Status = (Status)error.Status;
        Backend = (Backend)error.Backend;
        Reason = (Reason)error.Reason;
        NativeDomain = (NativeDomain)error.NativeDomain;
        NativeCode = error.NativeCode;
        Message = error.Message;
    }

    /// <summary>An error of this assembly itself.</summary>
    internal ErrorDetail(Status status, string message)
    {
        Status = status;
        Message = message;
    }

    internal Status Status { get; }
    internal Backend Backend { get; }
    internal Reason Reason { get; }
    internal NativeDomain NativeDomain { get; }
    internal int NativeCode { get; }
    internal string Message { get; }
}
