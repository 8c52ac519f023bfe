// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.Versioning;
using System.Text.RegularExpressions;
using Hypomnesis;

namespace Agent;

/// <summary>Formats values as behaviour.py reads them.</summary>
internal static class AnswerText
{
    internal static string? Framework =>
        typeof(Context).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName;

    internal static string Quote(string text) => "\"" + text
        .Replace("\\", "\\\\").Replace("\t", "\\t").Replace("\n", "\\n").Replace("\r", "\\r");

    internal static string Format(object? value) => value switch
    {
        null => "null",
        string text => Quote(text),
        bool flag => flag ? "1" : "0",
        double number => number.ToString("R", CultureInfo.InvariantCulture),
        TimeSpan span => FormatNanoseconds(span),
        DateTimeOffset time => FormatNanoseconds(time - DateTimeOffset.UnixEpoch),
        Enum number => number.ToString("D"),
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => throw new ArgumentException(value.GetType().Name),
    };

    /// <summary>The number of C; inexact where a tick of 100 ns may have cut it.</summary>
    private static string FormatNanoseconds(TimeSpan span)
    {
        var ns = (UInt128)span.Ticks * 100;
        return ns < (1ul << 53) - 100 ? ns.ToString() : "inexact";
    }

    internal static void WriteRecord(object? record, TextWriter output)
    {
        if (record is null)
        {
            output.WriteLine("value\tnull");
            return;
        }
        foreach (var property in record.GetType().GetProperties().Where(IsField))
            output.WriteLine($"{FormatCName(property)}\t{Format(property.GetValue(record))}");
    }

    private static string FormatCName(PropertyInfo property)
    {
        var type = FieldType(property);
        if (type == typeof(DateTimeOffset))
            return property.Name == nameof(SnapshotInfo.Time) ? "unix_time_ns" : "start_unix_ns";
        var name = Regex.Replace(property.Name, "(?<!^)([A-Z])", "_$1").ToLowerInvariant();
        return type == typeof(TimeSpan) ? name + "_ns" : name;
    }

    private static Type FieldType(PropertyInfo property) =>
        Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;

    /// <summary>False for what a snapshot adds to a record.</summary>
    private static bool IsField(PropertyInfo property)
    {
        var type = FieldType(property);
        return property.Name is not (nameof(Usage.ProcessName) or nameof(Usage.ProcessCommand)
                or nameof(Usage.ProcessContainer))
            && (property.DeclaringType, property.Name) != (typeof(Hypomnesis.Group), nameof(Hypomnesis.Group.Name))
            && (type == typeof(string) || type == typeof(TimeSpan) || type == typeof(DateTimeOffset) || type.IsPrimitive
                || type.IsEnum);
    }
}
