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
        Enum number => number.ToString("D"),
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => throw new ArgumentException(value.GetType().Name),
    };

    internal static void WriteRecord(object? record, TextWriter output)
    {
        if (record is null)
        {
            output.WriteLine("value\tnull");
            return;
        }
        foreach (var property in record.GetType().GetProperties().Where(IsField))
            output.WriteLine($"{FormatCName(property.Name)}\t{Format(property.GetValue(record))}");
    }

    internal static string FormatCName(string name) => Regex.Replace(name, "(?<!^)([A-Z])", "_$1").ToLowerInvariant();

    /// <summary>False for what a snapshot adds to a record.</summary>
    private static bool IsField(PropertyInfo property)
    {
        var type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        return property.Name is not (nameof(Usage.ProcessName) or nameof(Usage.ProcessCommand)
                or nameof(Usage.ProcessContainer))
            && (property.DeclaringType, property.Name) != (typeof(Hypomnesis.Group), nameof(Hypomnesis.Group.Name))
            && (type == typeof(string) || type.IsPrimitive || type.IsEnum);
    }
}
