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

/// <summary>Compares the assembly with bindings/abi.json, which is generated from the C header.</summary>
public class AbiTest
{
    private static readonly string[] InputStructs =
        ["hmn_context_options", "hmn_snapshot_options", "hmn_sampler_options", "hmn_spill_options",
         "hmn_spill_sample", "hmn_tracker_options", "hmn_packing", "hmn_attention", "hmn_cache",
         "hmn_metric_key", "hmn_reason_key"];
    private static readonly string[] FlaglessStructs =
        ["hmn_tracker_options", "hmn_packing", "hmn_cache", "hmn_spill_options", "hmn_spill_sample"];
    private static readonly string[] HiddenFields = ["struct_size", "present", "reserved0"];

    /// <summary>Prefix of the constants in C, and the enumeration that contains them.</summary>
    private static readonly (string Prefix, Type Enumeration)[] Enumerations =
    [
        ("HMN_PROCESS_MEMORY_HAS_", typeof(ProcessMemoryFields)),
        ("HMN_SYSTEM_MEMORY_HAS_", typeof(SystemMemoryFields)),
        ("HMN_DEVICE_HAS_", typeof(DeviceFields)), ("HMN_POOL_HAS_", typeof(PoolFields)),
        ("HMN_TELEMETRY_HAS_", typeof(TelemetryFields)), ("HMN_USAGE_HAS_", typeof(UsageFields)),
        ("HMN_MEMORY_KIND_", typeof(MemoryKind)), ("HMN_E_", typeof(Status)),
        ("HMN_BACKEND_", typeof(Backend)), ("HMN_NOTE_", typeof(Notes)), ("HMN_LINE_", typeof(LineFlags)), ("HMN_DELTA_SCOPE_", typeof(Scope)),
        ("HMN_ACCOUNT_", typeof(Accounting)), ("HMN_NATIVE_", typeof(NativeDomain)),
        ("HMN_VENDOR_", typeof(Vendor)), ("HMN_FEATURE_", typeof(Feature)),
        ("HMN_CONTEXT_", typeof(ContextFlags)), ("HMN_PATH_", typeof(SourcePath)),
        ("HMN_RUN_STATE_", typeof(State)), ("HMN_DEVICE_CLASS_", typeof(DeviceClass)),
        ("HMN_DEVICE_FORM_", typeof(DeviceForm)), ("HMN_POOL_", typeof(PoolKind)),
        ("HMN_THROTTLE_", typeof(ThrottleReasons)), ("HMN_USAGE_KIND_", typeof(UsageKinds)),
        ("HMN_NAME_STATE_", typeof(NameState)), ("HMN_PRESSURE_", typeof(Pressure)), ("HMN_COLLECT_", typeof(Collect)),
        ("HMN_SNAPSHOT_", typeof(SnapshotFlags)), ("HMN_FORMAT_", typeof(DeviceFormat)),
        ("HMN_SPILL_BY_", typeof(SpillRules)), ("HMN_SPILL_STATE_", typeof(SpillStates)),
        ("HMN_SAMPLER_STATE_", typeof(SamplerState)), ("HMN_DTYPE_", typeof(Dtype)),
        ("HMN_ATTENTION_", typeof(AttentionFlags)), ("HMN_CACHE_", typeof(CacheKind)),
        ("HMN_REASON_", typeof(Reason)), ("HMN_GROUP_HAS_", typeof(GroupFields)), ("HMN_METRIC_", typeof(MetricId)), ("HMN_ENGINE_", typeof(Engine)), ("HMN_SENSOR_", typeof(Sensor)),
        ("HMN_POWER_LIMIT_", typeof(PowerLimit)), ("HMN_POWER_READING_", typeof(PowerReading)),
        ("HMN_CLOCK_", typeof(Clock)), ("HMN_RAIL_", typeof(Rail)), ("HMN_ERA_", typeof(Era)),
        ("HMN_REMAPPED_", typeof(Remapping)), ("HMN_NUMBER_KIND_", typeof(NumberKind)),
        ("HMN_", typeof(Status)),
    ];

    /// <summary>Presence bits of records that cannot be requested by field, and ids of texts: the package has
    /// null and methods instead.</summary>
    private static readonly string[] UnexposedPrefixes =
        ["HMN_BACKEND_INFO_HAS_", "HMN_DIAGNOSTIC_HAS_", "HMN_DELTA_HAS_", "HMN_SAMPLER_INFO_HAS_",
         "HMN_PEAK_HAS_", "HMN_METRIC_HAS_", "HMN_TRACKER_INFO_HAS_", "HMN_TRACKER_LIMITED", "HMN_SAMPLER_PEAKS_ONLY", "HMN_SPILL_SAMPLE_HAS_",
         "HMN_SPILL_INFO_HAS_", "HMN_EPISODE_HAS_", "HMN_TEXT_", "HMN_VERSION_"];

    public static IEnumerable<object[]> Constants() =>
        from constant in Repository.Abi.GetProperty("constants").EnumerateObject()
        select new object[] { constant.Name, constant.Value.GetInt64() };

    public static IEnumerable<object[]> RecordNames() =>
        from entry in Repository.Abi.GetProperty("structs").EnumerateObject()
        where !InputStructs.Contains(entry.Name)
        select new object[] { entry.Name };

    public static IEnumerable<object[]> StructNames() =>
        from entry in Repository.Abi.GetProperty("structs").EnumerateObject()
        select new object[] { entry.Name };

    [Theory, MemberData(nameof(Constants))]
    public void EveryConstantIsPublicWithTheValueOfTheHeader(string name, long value)
    {
        Assert.Equal(value, RawConstant(name));
        if (name.Contains("_SIZE_V") || UnexposedPrefixes.Any(prefix => name.StartsWith(prefix)))
            return;
        var (prefix, enumeration) = Enumerations.First(entry => name.StartsWith(entry.Prefix));
        var member = enumeration.GetField(Repository.ToPascalCase(name[prefix.Length..].ToLowerInvariant()));
        Assert.True(member is not null, $"{enumeration.Name} has no {name}");
        Assert.Equal(value, Convert.ToInt64(member.GetRawConstantValue()));
    }

    /// <summary>Returns SWIG's constant, which must be a compile-time literal.</summary>
    private static long RawConstant(string name)
    {
        var field = typeof(Raw).GetField(name["HMN_".Length..]);
        Assert.True(field is { IsLiteral: true }, $"{name} is no constant of the compiler");
        return Convert.ToInt64(field.GetRawConstantValue());
    }

    [Theory, MemberData(nameof(RecordNames))]
    public void EveryRecordHasTheLayoutOfItsStruct(string name)
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

    [Theory, MemberData(nameof(StructNames))]
    public void TheShimHasTheStructSizesOfTheHeader(string name)
    {
        Libraries.Ensure();
        var entry = Repository.Abi.GetProperty("structs").GetProperty(name);
        Assert.Equal(entry.GetProperty("size").GetUInt32(), Raw.size_of(name));
    }

    [Theory, MemberData(nameof(StructNames))]
    public void EveryFieldHasAPublicProperty(string name)
    {
        if (name.EndsWith("_key"))
            return; // parameters of the methods that take a key
        var type = name == "hmn_error" ? typeof(IHypomnesisError) : PublicType(name);
        foreach (var field in Repository.Abi.GetProperty("structs").GetProperty(name)
                     .GetProperty("fields").EnumerateArray())
        {
            var cName = field.GetProperty("name").GetString()!;
            if (HiddenFields.Contains(cName) || (name, cName) == ("hmn_error", "notes") ||
                (cName == "flags" && FlaglessStructs.Contains(name)))
                continue;
            // A duration is a TimeSpan, which needs no unit in its name.
            var propertyName = cName switch
            {
                "unix_time_ns" => "Time",
                "start_unix_ns" => "StartTime",
                _ => Repository.ToPascalCase(cName.EndsWith("_ns") ? cName[..^"_ns".Length] : cName),
            };
            var property = type.GetProperty(propertyName);
            Assert.True(property is not null, $"{type.Name} has no {cName}");
            // In these structs flags, not null, mark absent fields.
            if (name is not ("hmn_spill_sample" or "hmn_tracker_options"))
                Assert.Equal(MayBeAbsent(field), IsNullable(property));
        }
    }

    private static bool MayBeAbsent(JsonElement field) =>
        field.GetProperty("present").ValueKind != JsonValueKind.Null;

    private static bool IsNullable(PropertyInfo property) => property.PropertyType.IsValueType
        ? Nullable.GetUnderlyingType(property.PropertyType) is not null
        : new NullabilityInfoContext().Create(property).ReadState == NullabilityState.Nullable;

    private static Type RecordType(string name) => typeof(Raw).Assembly.GetType(
        $"Hypomnesis.Interop.{Repository.ToPascalCase(name["hmn_".Length..])}Record", true)!;

    private static Type PublicType(string name) =>
        typeof(Context).Assembly.GetType($"Hypomnesis.{Repository.ToPascalCase(name["hmn_".Length..])}", true)!;

    /// <summary>Public member for each C function.</summary>
    private static readonly Dictionary<string, string> Members = new()
    {
        ["hmn_version_number"] = "Library.get_VersionNumber",
        ["hmn_version_string"] = "Library.get_Version",
        ["hmn_backend_available"] = "Library.Has",
        ["hmn_feature"] = "Library.Has",
        ["hmn_status_name"] = "Library.NameOf",
        ["hmn_backend_name"] = "Library.NameOf",
        ["hmn_monotonic_ns"] = "Library.get_Monotonic",
        ["hmn_sampler_handle"] = "Sampler.GetPollDescriptor",
        ["hmn_reason_name"] = "Library.NameOf",
        ["hmn_metric_name"] = "Library.NameOf",
        ["hmn_metric_unit"] = "Library.UnitOf",
        ["hmn_metric_kind"] = "Library.KindOf",
        ["hmn_metric_next"] = "Library.Metrics",
        ["hmn_metric_instance_name"] = "Library.InstanceNameOf",
        ["hmn_dtype_bits"] = "Estimate.BitsOf",
        ["hmn_dtype_name"] = "Library.NameOf",
        ["hmn_dtype_from_name"] = "Estimate.DtypeFrom",
        ["hmn_estimate_tensor"] = "Estimate.Tensor",
        ["hmn_estimate_packed"] = "Estimate.Packed",
        ["hmn_estimate_attention"] = "Estimate.Attention",
        ["hmn_estimate_cache"] = "Estimate.Cache",
        ["hmn_estimate_overhead"] = "Estimate.Overhead",
        ["hmn_estimate_sum"] = "Estimate.Sum",
        ["hmn_tracker_create"] = "Tracker..ctor",
        ["hmn_tracker_destroy"] = "Tracker.Dispose",
        ["hmn_tracker_allocate"] = "Tracker.Allocate",
        ["hmn_tracker_allocate_tagged"] = "Tracker.Allocate",
        ["hmn_tracker_release"] = "Tracker.Release",
        ["hmn_tracker_release_tagged"] = "Tracker.Release",
        ["hmn_tracker_tag"] = "Tracker.Tag",
        ["hmn_tracker_would_fit"] = "Tracker.WouldFit",
        ["hmn_tracker_set_limit"] = "Tracker.SetLimit",
        ["hmn_tracker_read"] = "Tracker.ReadInfo",
        ["hmn_tracker_read_tag"] = "Tracker.ReadTag",
        ["hmn_tracker_reset"] = "Tracker.Reset",
        ["hmn_context_create"] = "Context..ctor",
        ["hmn_context_set_path"] = "Context.SetPath",
        ["hmn_context_backend"] = "Context.ReadBackend",
        ["hmn_context_cancel"] = "Context.Cancel",
        ["hmn_context_resume"] = "Context.Resume",
        ["hmn_context_recording"] = "Context.GetRecording",
        ["hmn_context_destroy"] = "Context.Dispose",
        ["hmn_process_memory_read"] = "Context.ReadProcessMemory",
        ["hmn_process_memory_read_self"] = "Context.ReadOwnMemory",
        ["hmn_system_memory_read"] = "Context.ReadSystemMemory",
        ["hmn_device_scan"] = "Context.Scan",
        ["hmn_device_find"] = "Context.FindDevice",
        ["hmn_device_read"] = "Context.ReadDevice",
        ["hmn_pool_read"] = "Context.ReadPool",
        ["hmn_telemetry_read"] = "Context.ReadTelemetry",
        ["hmn_metric_read"] = "Context.ReadMetric",
        ["hmn_usage_read"] = "Context.ReadUsage",
        ["hmn_usage_read_self"] = "Context.ReadOwnUsage",
        ["hmn_snapshot_take"] = "Context.TakeSnapshot",
        ["hmn_snapshot_destroy"] = "Snapshot.Dispose",
        ["hmn_snapshot_read"] = "Snapshot.get_Info",
        ["hmn_snapshot_memory"] = "Snapshot.get_Memory",
        ["hmn_snapshot_system"] = "Snapshot.get_SystemMemory",
        ["hmn_snapshot_device_at"] = "Snapshot.get_Devices",
        ["hmn_snapshot_find_telemetry"] = "Device.get_Telemetry",
        ["hmn_snapshot_metric_at"] = "Snapshot.get_Metrics",
        ["hmn_snapshot_group_at"] = "Snapshot.get_Groups",
        ["hmn_snapshot_find_self"] = "Device.get_OwnUsage",
        ["hmn_snapshot_find_pool"] = "Snapshot.PoolOf",
        ["hmn_snapshot_pool_at"] = "Snapshot.get_Pools",
        ["hmn_snapshot_usage_at"] = "Snapshot.get_Usages",
        ["hmn_snapshot_diagnostic_at"] = "Snapshot.get_Diagnostics",
        ["hmn_snapshot_reason"] = "Snapshot.Reason",
        ["hmn_snapshot_text_at"] = "Usage.get_ProcessName",
        ["hmn_delta_read"] = "Snapshot.DeltaSince",
        ["hmn_report_delta"] = "Snapshot.DeltaLine",
        ["hmn_report_before_after"] = "Snapshot.BeforeAfterLines",
        ["hmn_format_device"] = "Snapshot.DeviceLine",
        ["hmn_format_json"] = "Snapshot.ToJson",
        ["hmn_format_bytes"] = "Library.FormatBytes",
        ["hmn_spill_create"] = "Context.CreateSpill",
        ["hmn_spill_destroy"] = "Spill.Dispose",
        ["hmn_spill_observe"] = "Spill.Observe",
        ["hmn_spill_observe_snapshot"] = "Spill.ObserveSnapshot",
        ["hmn_spill_feed"] = "Spill.Feed",
        ["hmn_spill_read"] = "Spill.ReadInfo",
        ["hmn_spill_episode"] = "Spill.ReadEpisode",
        ["hmn_sampler_create"] = "Context.CreateSampler",
        ["hmn_sampler_destroy"] = "Sampler.Dispose",
        ["hmn_sampler_start"] = "Sampler.Start",
        ["hmn_sampler_stop"] = "Sampler.Stop",
        ["hmn_sampler_next"] = "Sampler.Next",
        ["hmn_sampler_read"] = "Sampler.ReadInfo",
        ["hmn_sampler_latest_pool"] = "Sampler.LatestPool",
        ["hmn_sampler_latest_telemetry"] = "Sampler.LatestTelemetry",
        ["hmn_sampler_peak"] = "Sampler.ReadPeak",
        ["hmn_sampler_peak_device"] = "Sampler.ReadDevicePeak",
    };

    [Fact]
    public void EveryFunctionHasAPublicMember()
    {
        foreach (var function in Repository.Abi.GetProperty("functions").EnumerateObject())
        {
            Assert.True(Members.TryGetValue(function.Name, out var path), $"{function.Name} has no member");
            var dot = path.IndexOf('.');
            var type = typeof(Context).Assembly.GetType("Hypomnesis." + path[..dot], true)!;
            Assert.Contains(type.GetMembers(), member => member.Name == path[(dot + 1)..]);
        }
    }
}
