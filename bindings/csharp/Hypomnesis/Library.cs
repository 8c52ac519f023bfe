// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>libhypomnesis itself. Every member loads it unless it is loaded already, and throws
/// <see cref="DllNotFoundException"/> where it is missing.</summary>
public static class Library
{
    /// <summary>The library's version as major * 1000000 + minor * 1000 + patch.</summary>
    public static uint VersionNumber
    {
        get
        {
            Libraries.Ensure();
            return Raw.version_number();
        }
    }

    /// <summary>The library's version as text, for instance "0.1.0".</summary>
    public static string Version
    {
        get
        {
            Libraries.Ensure();
            return Raw.version_string();
        }
    }

    /// <summary>Time of the clock behind every <c>Monotonic</c>. It stops while the machine is suspended.</summary>
    public static TimeSpan Monotonic
    {
        get
        {
            Libraries.Ensure();
            return Duration.Span(Raw.monotonic_ns());
        }
    }

    /// <summary>Whether the library has a feature; false for a number that it does not know.</summary>
    /// <param name="feature">The feature.</param>
    public static bool Has(Feature feature)
    {
        Libraries.Ensure();
        return Raw.feature((uint)feature) != 0;
    }

    /// <summary>Whether a backend is compiled in.</summary>
    /// <param name="backend">The backend.</param>
    public static bool Has(Backend backend)
    {
        Libraries.Ensure();
        return Raw.backend_available((uint)backend) != 0;
    }

    /// <summary>A status' name in C, for instance "HMN_E_RANGE"; "HMN_E_?" for an unknown one.</summary>
    /// <param name="status">The status.</param>
    public static string NameOf(Status status)
    {
        Libraries.Ensure();
        return Raw.status_name((int)status);
    }

    /// <summary>A backend's name, for instance "nvml"; "unknown" for an unknown number.</summary>
    /// <param name="backend">The backend.</param>
    public static string NameOf(Backend backend)
    {
        Libraries.Ensure();
        return Raw.backend_name((uint)backend);
    }

    /// <summary>A reason's name, for instance "not_permitted"; "unknown" for an unknown
    /// number.</summary>
    /// <param name="reason">The reason.</param>
    public static string NameOf(Reason reason)
    {
        Libraries.Ensure();
        return Raw.reason_name((uint)reason);
    }

    /// <summary>A metric's name, for instance "temperature"; "unknown" for an unknown
    /// number.</summary>
    /// <param name="metric">The metric.</param>
    public static string NameOf(MetricId metric)
    {
        Libraries.Ensure();
        return Raw.metric_name((uint)metric);
    }

    /// <summary>A dtype's name, for instance "bf16"; "unknown" for an unknown number.</summary>
    /// <param name="dtype">The dtype.</param>
    public static string NameOf(Dtype dtype)
    {
        Libraries.Ensure();
        return Raw.dtype_name((uint)dtype);
    }

    /// <summary>The unit of a metric, for instance "W"; "" for a plain number.</summary>
    /// <param name="metric">The metric.</param>
    public static string UnitOf(MetricId metric)
    {
        Libraries.Ensure();
        return Raw.metric_unit((uint)metric);
    }

    /// <summary>How to use a metric's number: whether to show it as it is, or to take
    /// differences.</summary>
    /// <param name="metric">The metric.</param>
    public static NumberKind KindOf(MetricId metric)
    {
        Libraries.Ensure();
        return (NumberKind)Raw.metric_kind((uint)metric);
    }

    /// <summary>The metrics that the library knows.</summary>
    public static IReadOnlyList<MetricId> Metrics()
    {
        Libraries.Ensure();
        var all = new List<MetricId>();
        for (var metric = Raw.metric_next(0); metric != 0; metric = Raw.metric_next(metric))
            all.Add((MetricId)metric);
        return all;
    }

    /// <summary>The name of a metric's instance, for instance "hotspot"; "" for the whole device, and for fans
    /// and links.</summary>
    /// <param name="metric">The metric.</param>
    /// <param name="instance">Which one of several.</param>
    public static string InstanceNameOf(MetricId metric, uint instance)
    {
        Libraries.Ensure();
        return Raw.metric_instance_name((uint)metric, instance);
    }

    /// <summary>A human-readable size: whole MiB below 1 GiB ("512 MiB", rounded down), else GiB with one
    /// decimal ("8.2 GiB").</summary>
    /// <param name="bytes">The size.</param>
    public static string FormatBytes(ulong bytes)
    {
        Libraries.Ensure();
        var error = Native.NewError();
        var text = Raw.format_bytes(bytes, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }
}
