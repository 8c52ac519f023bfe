// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Why clocks are held down.</summary>
[Flags]
public enum ThrottleReasons : uint
{
    /// <summary>They are not.</summary>
    None = 0,
    /// <summary>Nothing runs.</summary>
    Idle = Raw.THROTTLE_IDLE,
    /// <summary>The power limit.</summary>
    Power = Raw.THROTTLE_POWER,
    /// <summary>The temperature.</summary>
    Thermal = Raw.THROTTLE_THERMAL,
    /// <summary>The hardware itself slows down.</summary>
    Hardware = Raw.THROTTLE_HARDWARE,
    /// <summary>Somebody set it so.</summary>
    Setting = Raw.THROTTLE_SETTING,
    /// <summary>Something else.</summary>
    Other = Raw.THROTTLE_OTHER,
}

/// <summary>The figures of a <see cref="Telemetry"/> that are wanted.</summary>
[Flags]
public enum TelemetryFields : uint
{
    /// <summary>All that are cheap.</summary>
    Cheap = 0,
    /// <summary><see cref="Telemetry.GpuBusyPercent"/>.</summary>
    GpuBusy = Raw.TELEMETRY_HAS_GPU_BUSY,
    /// <summary><see cref="Telemetry.MemoryBusyPercent"/>.</summary>
    MemoryBusy = Raw.TELEMETRY_HAS_MEMORY_BUSY,
    /// <summary><see cref="Telemetry.EncoderBusyPercent"/>.</summary>
    EncoderBusy = Raw.TELEMETRY_HAS_ENCODER_BUSY,
    /// <summary><see cref="Telemetry.DecoderBusyPercent"/>.</summary>
    DecoderBusy = Raw.TELEMETRY_HAS_DECODER_BUSY,
    /// <summary><see cref="Telemetry.TemperatureCelsius"/>.</summary>
    Temperature = Raw.TELEMETRY_HAS_TEMPERATURE,
    /// <summary><see cref="Telemetry.HotspotCelsius"/>.</summary>
    Hotspot = Raw.TELEMETRY_HAS_HOTSPOT,
    /// <summary><see cref="Telemetry.MemoryCelsius"/>.</summary>
    MemoryTemperature = Raw.TELEMETRY_HAS_MEMORY_TEMPERATURE,
    /// <summary><see cref="Telemetry.PowerWatts"/>.</summary>
    Power = Raw.TELEMETRY_HAS_POWER,
    /// <summary><see cref="Telemetry.PowerLimitWatts"/>.</summary>
    PowerLimit = Raw.TELEMETRY_HAS_POWER_LIMIT,
    /// <summary><see cref="Telemetry.EnergyJoules"/>.</summary>
    Energy = Raw.TELEMETRY_HAS_ENERGY,
    /// <summary><see cref="Telemetry.CoreClockMhz"/>.</summary>
    CoreClock = Raw.TELEMETRY_HAS_CORE_CLOCK,
    /// <summary><see cref="Telemetry.MemoryClockMhz"/>.</summary>
    MemoryClock = Raw.TELEMETRY_HAS_MEMORY_CLOCK,
    /// <summary><see cref="Telemetry.FanPercent"/>.</summary>
    FanPercent = Raw.TELEMETRY_HAS_FAN_PERCENT,
    /// <summary><see cref="Telemetry.FanRpm"/>.</summary>
    FanRpm = Raw.TELEMETRY_HAS_FAN_RPM,
    /// <summary><see cref="Telemetry.PcieGeneration"/>.</summary>
    PcieGeneration = Raw.TELEMETRY_HAS_PCIE_GENERATION,
    /// <summary><see cref="Telemetry.PcieWidth"/>.</summary>
    PcieWidth = Raw.TELEMETRY_HAS_PCIE_WIDTH,
    /// <summary><see cref="Telemetry.PcieRxBytes"/>.</summary>
    PcieRx = Raw.TELEMETRY_HAS_PCIE_RX,
    /// <summary><see cref="Telemetry.PcieTxBytes"/>.</summary>
    PcieTx = Raw.TELEMETRY_HAS_PCIE_TX,
    /// <summary><see cref="Telemetry.Throttle"/>.</summary>
    Throttle = Raw.TELEMETRY_HAS_THROTTLE,
    /// <summary><see cref="Telemetry.PState"/>.</summary>
    PState = Raw.TELEMETRY_HAS_P_STATE,
    /// <summary><see cref="Telemetry.WindowNs"/>.</summary>
    Window = Raw.TELEMETRY_HAS_WINDOW,
}

/// <summary>Load, temperature and power of a device; null: not known, or not asked for.</summary>
public sealed record Telemetry
{
    /// <summary>Remarks; <see cref="Notes.Partial"/>: a field that was asked for is missing.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>Clock of the cores, MHz.</summary>
    public uint? CoreClockMhz { get; init; }
    /// <summary>Clock of the memory, MHz.</summary>
    public uint? MemoryClockMhz { get; init; }
    /// <summary>Of the fan's highest speed; may pass 100.</summary>
    public uint? FanPercent { get; init; }
    /// <summary>Turns of the fan in a minute.</summary>
    public uint? FanRpm { get; init; }
    /// <summary>Generation of the link as it runs now.</summary>
    public uint? PcieGeneration { get; init; }
    /// <summary>Lanes in use now.</summary>
    public uint? PcieWidth { get; init; }
    /// <summary>NVIDIA: 0 is the fastest.</summary>
    public uint? PState { get; init; }
    /// <summary>Why clocks are held down.</summary>
    public ThrottleReasons? Throttle { get; init; }
    /// <summary>Bit n: backend n gave at least one field.</summary>
    public ulong Backends { get; init; }
    /// <summary>0..100: share of time in which something ran.</summary>
    public double? GpuBusyPercent { get; init; }
    /// <summary>0..100: share of time in which memory was read or written; not how full it is.</summary>
    public double? MemoryBusyPercent { get; init; }
    /// <summary>0..100: load of the encoder.</summary>
    public double? EncoderBusyPercent { get; init; }
    /// <summary>0..100: load of the decoder.</summary>
    public double? DecoderBusyPercent { get; init; }
    /// <summary>Temperature of the device, degrees Celsius.</summary>
    public double? TemperatureCelsius { get; init; }
    /// <summary>Temperature of its hottest spot, degrees Celsius.</summary>
    public double? HotspotCelsius { get; init; }
    /// <summary>Temperature of its memory, degrees Celsius.</summary>
    public double? MemoryCelsius { get; init; }
    /// <summary>Power drawn now, watts.</summary>
    public double? PowerWatts { get; init; }
    /// <summary>Power that it may draw, watts.</summary>
    public double? PowerLimitWatts { get; init; }
    /// <summary>Joules; ever growing since the driver was loaded: take differences.</summary>
    public double? EnergyJoules { get; init; }
    /// <summary>Bytes received; ever growing: take differences.</summary>
    public ulong? PcieRxBytes { get; init; }
    /// <summary>Bytes sent; ever growing: take differences.</summary>
    public ulong? PcieTxBytes { get; init; }
    /// <summary>Nanoseconds that the percentages average over.</summary>
    public ulong? WindowNs { get; init; }
    /// <summary>Nanoseconds since the driver was asked.</summary>
    public ulong AgeNs { get; init; }

    internal static unsafe Telemetry From(IntPtr record)
    {
        var from = (TelemetryRecord*)record;
        return new Telemetry
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            CoreClockMhz = from->CoreClockMhz,
            MemoryClockMhz = from->MemoryClockMhz,
            FanPercent = from->FanPercent,
            FanRpm = from->FanRpm,
            PcieGeneration = from->PcieGeneration,
            PcieWidth = from->PcieWidth,
            PState = from->PState,
            Throttle = (ThrottleReasons?)from->Throttle,
            Backends = from->Backends,
            GpuBusyPercent = from->GpuBusyPercent,
            MemoryBusyPercent = from->MemoryBusyPercent,
            EncoderBusyPercent = from->EncoderBusyPercent,
            DecoderBusyPercent = from->DecoderBusyPercent,
            TemperatureCelsius = from->TemperatureCelsius,
            HotspotCelsius = from->HotspotCelsius,
            MemoryCelsius = from->MemoryCelsius,
            PowerWatts = from->PowerWatts,
            PowerLimitWatts = from->PowerLimitWatts,
            EnergyJoules = from->EnergyJoules,
            PcieRxBytes = from->PcieRxBytes,
            PcieTxBytes = from->PcieTxBytes,
            WindowNs = from->WindowNs,
            AgeNs = from->AgeNs,
        };
    }
}
