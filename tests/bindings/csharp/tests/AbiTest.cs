// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.Json;
using Hypomnesis.Interop;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>The assembly against bindings/abi.json, which is what the C header says.</summary>
public class AbiTest
{
    private static readonly string[] Inputs = ["hmn_context_options", "hmn_snapshot_options"];
    private static readonly string[] Hidden = ["struct_size", "present", "reserved0"];

    /// <summary>Prefix of the constants in C, and the enumeration that has them.</summary>
    private static readonly (string Prefix, Type Enumeration)[] Enumerations =
    [
        ("HMN_PROCESS_MEMORY_HAS_", typeof(ProcessMemoryFields)),
        ("HMN_SYSTEM_MEMORY_HAS_", typeof(SystemMemoryFields)),
        ("HMN_DEVICE_HAS_", typeof(DeviceFields)), ("HMN_POOL_HAS_", typeof(PoolFields)),
        ("HMN_TELEMETRY_HAS_", typeof(TelemetryFields)), ("HMN_USAGE_HAS_", typeof(UsageFields)),
        ("HMN_MEMORY_KIND_", typeof(MemoryKind)), ("HMN_E_", typeof(Status)),
        ("HMN_BACKEND_", typeof(Backend)), ("HMN_NOTE_", typeof(Notes)), ("HMN_SCOPE_", typeof(Scope)),
        ("HMN_ACCOUNT_", typeof(Accounting)), ("HMN_NATIVE_", typeof(NativeDomain)),
        ("HMN_VENDOR_", typeof(Vendor)), ("HMN_FEATURE_", typeof(Feature)),
        ("HMN_CONTEXT_", typeof(ContextFlags)), ("HMN_PATH_", typeof(SourcePath)),
        ("HMN_STATE_", typeof(State)), ("HMN_KIND_", typeof(DeviceKind)), ("HMN_POOL_", typeof(PoolKind)),
        ("HMN_THROTTLE_", typeof(ThrottleReasons)), ("HMN_USAGE_", typeof(UsageKinds)),
        ("HMN_NAME_", typeof(NameState)), ("HMN_COLLECT_", typeof(Collect)),
        ("HMN_SNAPSHOT_", typeof(SnapshotFlags)), ("HMN_FORMAT_", typeof(DeviceFormat)),
        ("HMN_", typeof(Status)),
    ];

    /// <summary>Presence bits of records that no reading asks for by field, and which text is asked for: the
    /// package has null and methods for these.</summary>
    private static readonly string[] Unneeded =
        ["HMN_BACKEND_INFO_HAS_", "HMN_DIAGNOSTIC_HAS_", "HMN_DELTA_HAS_", "HMN_TEXT_", "HMN_VERSION_"];

    public static IEnumerable<object[]> Constants() =>
        from constant in Repository.Abi.GetProperty("constants").EnumerateObject()
        select new object[] { constant.Name, constant.Value.GetInt64() };

    public static IEnumerable<object[]> Results() =>
        from entry in Repository.Abi.GetProperty("structs").EnumerateObject()
        where !Inputs.Contains(entry.Name)
        select new object[] { entry.Name };

    public static IEnumerable<object[]> Structs() =>
        from entry in Repository.Abi.GetProperty("structs").EnumerateObject()
        select new object[] { entry.Name };

    [Theory, MemberData(nameof(Constants))]
    public void EveryConstantIsPublicAndEqual(string name, long value)
    {
        Assert.Equal(value, RawConstant(name));
        if (name.EndsWith("_SIZE_V1") || Unneeded.Any(prefix => name.StartsWith(prefix)))
            return;
        var (prefix, enumeration) = Enumerations.First(entry => name.StartsWith(entry.Prefix));
        var member = enumeration.GetField(Repository.Pascal(name[prefix.Length..].ToLowerInvariant()));
        Assert.True(member is not null, $"{enumeration.Name} has no {name}");
        Assert.Equal(value, Convert.ToInt64(member.GetRawConstantValue()));
    }

    /// <summary>SWIG's constant, which no call fills at run time.</summary>
    private static long RawConstant(string name)
    {
        var field = typeof(Raw).GetField(name["HMN_".Length..]);
        Assert.True(field is { IsLiteral: true }, $"{name} is no constant of the compiler");
        return Convert.ToInt64(field.GetRawConstantValue());
    }

    [Theory, MemberData(nameof(Results))]
    public void EveryRecordIsLaidOutAsInC(string name)
    {
        var entry = Repository.Abi.GetProperty("structs").GetProperty(name);
        var type = RecordType(name);
        Assert.Equal(entry.GetProperty("size").GetInt32(), Marshal.SizeOf(type));
        foreach (var field in entry.GetProperty("fields").EnumerateArray())
        {
            var offset = (int)Marshal.OffsetOf(type, field.GetProperty("name").GetString()!);
            Assert.Equal(field.GetProperty("offset").GetInt32(), offset);
        }
    }

    [Theory, MemberData(nameof(Structs))]
    public void TheShimHasTheSameSizes(string name)
    {
        Libraries.Ensure();
        var entry = Repository.Abi.GetProperty("structs").GetProperty(name);
        Assert.Equal(entry.GetProperty("size").GetUInt32(), Raw.size_of(name));
    }

    [Theory, MemberData(nameof(Structs))]
    public void EveryFieldIsPublic(string name)
    {
        var shown = name == "hmn_error" ? typeof(IHypomnesisError) : PublicType(name);
        foreach (var field in Repository.Abi.GetProperty("structs").GetProperty(name)
                     .GetProperty("fields").EnumerateArray())
        {
            var inC = field.GetProperty("name").GetString()!;
            if (Hidden.Contains(inC) || (name, inC) == ("hmn_error", "notes"))
                continue;
            var property = shown.GetProperty(Repository.Pascal(inC));
            Assert.True(property is not null, $"{shown.Name} has no {inC}");
            Assert.Equal(MayBeAbsent(field), IsNullable(property));
        }
    }

    private static bool MayBeAbsent(JsonElement field) =>
        field.GetProperty("present").ValueKind != JsonValueKind.Null;

    private static bool IsNullable(PropertyInfo property) => property.PropertyType.IsValueType
        ? Nullable.GetUnderlyingType(property.PropertyType) is not null
        : new NullabilityInfoContext().Create(property).ReadState == NullabilityState.Nullable;

    private static Type RecordType(string name) =>
        typeof(Raw).Assembly.GetType($"Hypomnesis.Interop.{Repository.Pascal(name["hmn_".Length..])}Record", true)!;

    private static Type PublicType(string name) =>
        typeof(Context).Assembly.GetType($"Hypomnesis.{Repository.Pascal(name["hmn_".Length..])}", true)!;

    /// <summary>Where each function is in the public package.</summary>
    private static readonly Dictionary<string, string> Places = new()
    {
        ["hmn_version_number"] = "Library.get_VersionNumber",
        ["hmn_version_string"] = "Library.get_Version",
        ["hmn_feature"] = "Library.Has",
        ["hmn_status_name"] = "Library.NameOf",
        ["hmn_backend_name"] = "Library.NameOf",
        ["hmn_context_create"] = "Context..ctor",
        ["hmn_context_set_path"] = "Context.SetPath",
        ["hmn_context_backend"] = "Context.ReadBackend",
        ["hmn_context_destroy"] = "Context.Dispose",
        ["hmn_process_memory_read"] = "Context.ReadProcessMemory",
        ["hmn_process_memory_read_self"] = "Context.ReadOwnMemory",
        ["hmn_system_memory_read"] = "Context.ReadSystemMemory",
        ["hmn_device_count"] = "Context.CountDevices",
        ["hmn_device_find"] = "Context.FindDevice",
        ["hmn_device_read"] = "Context.ReadDevice",
        ["hmn_pool_read"] = "Context.ReadPool",
        ["hmn_telemetry_read"] = "Context.ReadTelemetry",
        ["hmn_usage_read"] = "Context.ReadUsage",
        ["hmn_usage_read_self"] = "Context.ReadOwnUsage",
        ["hmn_snapshot_take"] = "Context.TakeSnapshot",
        ["hmn_snapshot_destroy"] = "Snapshot.Dispose",
        ["hmn_snapshot_read"] = "Snapshot.get_Info",
        ["hmn_snapshot_memory"] = "Snapshot.get_Memory",
        ["hmn_snapshot_system"] = "Snapshot.get_SystemMemory",
        ["hmn_snapshot_device"] = "Snapshot.get_Devices",
        ["hmn_snapshot_telemetry"] = "Device.get_Telemetry",
        ["hmn_snapshot_self"] = "Device.get_OwnUsage",
        ["hmn_snapshot_pool"] = "Snapshot.get_Pools",
        ["hmn_snapshot_usage"] = "Snapshot.get_Usages",
        ["hmn_snapshot_diagnostic"] = "Snapshot.get_Diagnostics",
        ["hmn_snapshot_text"] = "Usage.get_ProcessName",
        ["hmn_report_read"] = "Snapshot.DeltaSince",
        ["hmn_report_delta"] = "Snapshot.DeltaLine",
        ["hmn_report_before_after"] = "Snapshot.BeforeAfterLines",
        ["hmn_format_device"] = "Snapshot.DeviceLine",
        ["hmn_format_json"] = "Snapshot.ToJson",
        ["hmn_format_bytes"] = "Library.FormatBytes",
    };

    [Fact]
    public void EveryFunctionIsReachable()
    {
        foreach (var function in Repository.Abi.GetProperty("functions").EnumerateObject())
        {
            Assert.True(Places.TryGetValue(function.Name, out var place), $"{function.Name} has no place");
            var dot = place.IndexOf('.');
            var type = typeof(Context).Assembly.GetType("Hypomnesis." + place[..dot], true)!;
            Assert.Contains(type.GetMembers(), member => member.Name == place[(dot + 1)..]);
        }
    }
}
