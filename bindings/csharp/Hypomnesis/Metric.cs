// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Which number of a device. Treat one that you do not know as <see cref="Unknown"/>.</summary>
public enum MetricId : uint
{
    /// <summary>Not known.</summary>
    Unknown = Raw.METRIC_UNKNOWN,
    /// <summary>Count of nanoseconds, ever growing, of an <see cref="Engine"/>.</summary>
    EngineBusyNs = Raw.METRIC_ENGINE_BUSY_NS,
    /// <summary>0..100 of the window, of an <see cref="Engine"/>.</summary>
    EnginePercent = Raw.METRIC_ENGINE_PERCENT,
    /// <summary>Count: how many of an <see cref="Engine"/> there are.</summary>
    EngineCapacity = Raw.METRIC_ENGINE_CAPACITY,
    /// <summary>Degrees Celsius at a <see cref="Sensor"/>.</summary>
    Temperature = Raw.METRIC_TEMPERATURE,
    /// <summary>Degrees Celsius at a <see cref="Sensor"/> where the device slows down.</summary>
    TemperatureLimit = Raw.METRIC_TEMPERATURE_LIMIT,
    /// <summary>Turns of a fan in a minute; fans count from 0.</summary>
    FanRpm = Raw.METRIC_FAN_RPM,
    /// <summary>Of a fan's highest speed, may pass 100; fans count from 0.</summary>
    FanPercent = Raw.METRIC_FAN_PERCENT,
    /// <summary>Watts, by <see cref="PowerReading"/>.</summary>
    PowerWatts = Raw.METRIC_POWER_WATTS,
    /// <summary>Joules, ever growing, by <see cref="PowerReading"/>.</summary>
    EnergyJoules = Raw.METRIC_ENERGY_JOULES,
    /// <summary>MHz of a <see cref="Clock"/>.</summary>
    ClockMhz = Raw.METRIC_CLOCK_MHZ,
    /// <summary>Highest MHz of a <see cref="Clock"/>.</summary>
    ClockLimitMhz = Raw.METRIC_CLOCK_LIMIT_MHZ,
    /// <summary>Volts of a <see cref="Rail"/>.</summary>
    Voltage = Raw.METRIC_VOLTAGE,
    /// <summary>Degrees Celsius at a <see cref="Sensor"/> where the device switches itself off.</summary>
    TemperatureShutdown = Raw.METRIC_TEMPERATURE_SHUTDOWN,
    /// <summary>Watts, by <see cref="PowerLimit"/>.</summary>
    PowerLimitWatts = Raw.METRIC_POWER_LIMIT_WATTS,
    /// <summary>Count of corrected memory errors of an <see cref="Era"/>.</summary>
    EccCorrected = Raw.METRIC_ECC_CORRECTED,
    /// <summary>Count of uncorrected memory errors of an <see cref="Era"/>.</summary>
    EccUncorrected = Raw.METRIC_ECC_UNCORRECTED,
    /// <summary>Count, by <see cref="Remapping"/>.</summary>
    RowsRemapped = Raw.METRIC_ROWS_REMAPPED,
    /// <summary>The driver's own number of the last fault (NVIDIA: Xid).</summary>
    LastFault = Raw.METRIC_LAST_FAULT,
    /// <summary>Count of nanoseconds held back, by one of <see cref="ThrottleReasons"/>.</summary>
    ThrottleNs = Raw.METRIC_THROTTLE_NS,
    /// <summary>Count, ever growing: received by the device.</summary>
    PcieRxBytes = Raw.METRIC_PCIE_RX_BYTES,
    /// <summary>Count, ever growing: sent by the device.</summary>
    PcieTxBytes = Raw.METRIC_PCIE_TX_BYTES,
    /// <summary>Count, ever growing: packets sent again.</summary>
    PcieReplays = Raw.METRIC_PCIE_REPLAYS,
    /// <summary>Count, ever growing, of a link to other devices; links count from 0.</summary>
    LinkRxBytes = Raw.METRIC_LINK_RX_BYTES,
    /// <summary>Count, ever growing, of a link to other devices; links count from 0.</summary>
    LinkTxBytes = Raw.METRIC_LINK_TX_BYTES,
    /// <summary>Count: VRAM that a control group holds; <see cref="Metric.Group"/> has its name.</summary>
    GroupVramBytes = Raw.METRIC_GROUP_VRAM_BYTES,
    /// <summary>Count: the most VRAM that a control group may hold.</summary>
    GroupVramLimitBytes = Raw.METRIC_GROUP_VRAM_LIMIT_BYTES,
}

/// <summary>Which engine of a device.</summary>
public enum Engine : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.ENGINE_UNKNOWN,
    /// <summary>Graphics.</summary>
    Graphics = Raw.ENGINE_GRAPHICS,
    /// <summary>Compute.</summary>
    Compute = Raw.ENGINE_COMPUTE,
    /// <summary>Copies.</summary>
    Copy = Raw.ENGINE_COPY,
    /// <summary>Decodes video.</summary>
    Decode = Raw.ENGINE_DECODE,
    /// <summary>Encodes video.</summary>
    Encode = Raw.ENGINE_ENCODE,
    /// <summary>Decodes and encodes, or improves pictures.</summary>
    Video = Raw.ENGINE_VIDEO,
    /// <summary>Another one.</summary>
    Other = Raw.ENGINE_OTHER,
    /// <summary>The memory controller.</summary>
    Memory = Raw.ENGINE_MEMORY,
}

/// <summary>Where a temperature is taken.</summary>
public enum Sensor : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.SENSOR_UNKNOWN,
    /// <summary>Edge of the chip, or its average.</summary>
    Core = Raw.SENSOR_CORE,
    /// <summary>The hottest spot.</summary>
    Hotspot = Raw.SENSOR_HOTSPOT,
    /// <summary>The memory.</summary>
    Memory = Raw.SENSOR_MEMORY,
    /// <summary>The package.</summary>
    Package = Raw.SENSOR_PACKAGE,
    /// <summary>The board.</summary>
    Board = Raw.SENSOR_BOARD,
    /// <summary>The voltage regulator.</summary>
    Regulator = Raw.SENSOR_REGULATOR,
}

/// <summary>What power is of.</summary>
public enum PowerReading : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.POWER_UNKNOWN,
    /// <summary>Of the device, averaged.</summary>
    Average = Raw.POWER_AVERAGE,
    /// <summary>Of the device, now.</summary>
    Instant = Raw.POWER_INSTANT,
    /// <summary>The chip and what is in its package, a CPU too.</summary>
    Package = Raw.POWER_PACKAGE,
    /// <summary>The memory.</summary>
    Memory = Raw.POWER_MEMORY,
    /// <summary>The board.</summary>
    Board = Raw.POWER_BOARD,
}

/// <summary>Which limit of power.</summary>
public enum PowerLimit : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.POWER_LIMIT_UNKNOWN,
    /// <summary>In force.</summary>
    Current = Raw.POWER_LIMIT_CURRENT,
    /// <summary>The maker's.</summary>
    Default = Raw.POWER_LIMIT_DEFAULT,
    /// <summary>Lowest that can be set.</summary>
    Min = Raw.POWER_LIMIT_MIN,
    /// <summary>Highest that can be set.</summary>
    Max = Raw.POWER_LIMIT_MAX,
}

/// <summary>Which clock.</summary>
public enum Clock : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.CLOCK_UNKNOWN,
    /// <summary>Graphics.</summary>
    Core = Raw.CLOCK_CORE,
    /// <summary>The memory.</summary>
    Memory = Raw.CLOCK_MEMORY,
    /// <summary>NVIDIA's streaming multiprocessors.</summary>
    Sm = Raw.CLOCK_SM,
    /// <summary>Video.</summary>
    Video = Raw.CLOCK_VIDEO,
    /// <summary>Media.</summary>
    Media = Raw.CLOCK_MEDIA,
    /// <summary>The system on the chip.</summary>
    Soc = Raw.CLOCK_SOC,
    /// <summary>The fabric.</summary>
    Fabric = Raw.CLOCK_FABRIC,
    /// <summary>Of the core, before limits.</summary>
    Requested = Raw.CLOCK_REQUESTED,
}

/// <summary>Where a voltage is taken.</summary>
public enum Rail : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.RAIL_UNKNOWN,
    /// <summary>The core.</summary>
    Core = Raw.RAIL_CORE,
    /// <summary>The system on the chip.</summary>
    Soc = Raw.RAIL_SOC,
    /// <summary>The memory.</summary>
    Memory = Raw.RAIL_MEMORY,
    /// <summary>The board.</summary>
    Board = Raw.RAIL_BOARD,
}

/// <summary>What errors are counted over.</summary>
public enum Era : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.ERA_UNKNOWN,
    /// <summary>Since the driver was loaded, or the device reset.</summary>
    SinceLoad = Raw.ERA_SINCE_LOAD,
    /// <summary>The life of the device.</summary>
    Lifetime = Raw.ERA_LIFETIME,
}

/// <summary>What became of rows of memory.</summary>
public enum Remapping : uint
{
    /// <summary>Of the whole device, or not told.</summary>
    Unknown = Raw.REMAPPED_UNKNOWN,
    /// <summary>Replaced after corrected errors.</summary>
    Corrected = Raw.REMAPPED_CORRECTED,
    /// <summary>Replaced after uncorrected errors.</summary>
    Uncorrected = Raw.REMAPPED_UNCORRECTED,
    /// <summary>1: a reset will replace some.</summary>
    Pending = Raw.REMAPPED_PENDING,
    /// <summary>1: one could not be replaced.</summary>
    Failed = Raw.REMAPPED_FAILED,
}

/// <summary>One number of a device, with its own source and age; either <see cref="Value"/> or
/// <see cref="Count"/> is there.</summary>
public sealed record Metric
{
    /// <summary>Remarks on this result.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>The process whose part it is; null: the whole device's.</summary>
    public uint? Pid { get; init; }
    /// <summary>Which number it is.</summary>
    public MetricId Id { get; init; }
    /// <summary>Which one of several: see <see cref="MetricId"/>.</summary>
    public uint Instance { get; init; }
    /// <summary>A reading.</summary>
    public double? Value { get; init; }
    /// <summary>Ever growing, or whole by nature.</summary>
    public ulong? Count { get; init; }
    /// <summary>Nanoseconds that the value averages over.</summary>
    public ulong? WindowNs { get; init; }
    /// <summary>Nanoseconds since the driver was asked.</summary>
    public ulong AgeNs { get; init; }
    /// <summary>Of a snapshot's metrics: the control group that it is of; null: of none.</summary>
    public string? Group { get; init; }

    internal static Metric From(IntPtr record) => From(record, null);

    internal static unsafe Metric From(IntPtr record, string? group)
    {
        var from = (MetricRecord*)record;
        return new Metric
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            Pid = from->Pid,
            Id = (MetricId)from->Id,
            Instance = from->Instance,
            Value = from->Value,
            Count = from->Count,
            WindowNs = from->WindowNs,
            AgeNs = from->AgeNs,
            Group = group,
        };
    }
}
