// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What sort of device it is.</summary>
public enum DeviceKind : uint
{
    /// <summary>Not known.</summary>
    Unknown = Raw.KIND_UNKNOWN,
    /// <summary>A card of its own.</summary>
    Discrete = Raw.KIND_DISCRETE,
    /// <summary>A part of the processor.</summary>
    Integrated = Raw.KIND_INTEGRATED,
    /// <summary>A MIG instance: a device of its own, with a <see cref="Device.ParentIndex"/>.</summary>
    Partition = Raw.KIND_PARTITION,
    /// <summary>A virtual machine's share of a device.</summary>
    Virtual = Raw.KIND_VIRTUAL,
}

/// <summary>What a device's memory is.</summary>
public enum MemoryKind : uint
{
    /// <summary>Not known.</summary>
    Unknown = Raw.MEMORY_KIND_UNKNOWN,
    /// <summary>Memory of its own.</summary>
    Dedicated = Raw.MEMORY_KIND_DEDICATED,
    /// <summary>It allocates from the host's RAM (GB10, Jetson, Apple).</summary>
    Unified = Raw.MEMORY_KIND_UNIFIED,
    /// <summary>Memory of its own that is also a NUMA node of the host (GH200).</summary>
    Coherent = Raw.MEMORY_KIND_COHERENT,
}

/// <summary>A device's vendor: its PCI vendor id.</summary>
public enum Vendor : uint
{
    /// <summary>Not known.</summary>
    Unknown = Raw.VENDOR_UNKNOWN,
    /// <summary>AMD.</summary>
    Amd = Raw.VENDOR_AMD,
    /// <summary>Apple.</summary>
    Apple = Raw.VENDOR_APPLE,
    /// <summary>NVIDIA.</summary>
    Nvidia = Raw.VENDOR_NVIDIA,
    /// <summary>Qualcomm.</summary>
    Qualcomm = Raw.VENDOR_QUALCOMM,
    /// <summary>Intel.</summary>
    Intel = Raw.VENDOR_INTEL,
}

/// <summary>The figures of a <see cref="Device"/>; a <see cref="Diagnostic.Field"/> counts in them.</summary>
[Flags]
public enum DeviceFields : uint
{
    /// <summary>None.</summary>
    None = 0,
    /// <summary><see cref="Device.Name"/>.</summary>
    Name = Raw.DEVICE_HAS_NAME,
    /// <summary><see cref="Device.Uuid"/>.</summary>
    Uuid = Raw.DEVICE_HAS_UUID,
    /// <summary><see cref="Device.PciBusId"/>.</summary>
    Pci = Raw.DEVICE_HAS_PCI,
    /// <summary><see cref="Device.DriverVersion"/>.</summary>
    Driver = Raw.DEVICE_HAS_DRIVER,
    /// <summary><see cref="Device.ParentIndex"/>.</summary>
    Parent = Raw.DEVICE_HAS_PARENT,
    /// <summary><see cref="Device.PciDevice"/>.</summary>
    PciDevice = Raw.DEVICE_HAS_PCI_DEVICE,
    /// <summary><see cref="Device.PciSubsystem"/>.</summary>
    PciSubsystem = Raw.DEVICE_HAS_PCI_SUBSYSTEM,
    /// <summary><see cref="Device.RenderMinor"/>.</summary>
    RenderMinor = Raw.DEVICE_HAS_RENDER_MINOR,
    /// <summary><see cref="Device.NumaNode"/>.</summary>
    NumaNode = Raw.DEVICE_HAS_NUMA_NODE,
    /// <summary><see cref="Device.GpuInstance"/> and <see cref="Device.ComputeInstance"/>.</summary>
    Instance = Raw.DEVICE_HAS_INSTANCE,
    /// <summary><see cref="Device.DriverIndex"/>.</summary>
    DriverIndex = Raw.DEVICE_HAS_DRIVER_INDEX,
    /// <summary><see cref="Device.OsId"/>.</summary>
    OsId = Raw.DEVICE_HAS_OS_ID,
    /// <summary><see cref="Device.CudaVersion"/>.</summary>
    CudaVersion = Raw.DEVICE_HAS_CUDA_VERSION,
}

/// <summary>Who a device is; in a snapshot also what was read of it. Null: not known.</summary>
public sealed record Device
{
    /// <summary>Remarks on this result.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The context's number: never reused, never renumbered.</summary>
    public uint Index { get; init; }
    /// <summary>What sort of device it is.</summary>
    public DeviceKind Kind { get; init; }
    /// <summary>What it is doing.</summary>
    public State State { get; init; }
    /// <summary>Its PCI vendor id.</summary>
    public Vendor Vendor { get; init; }
    /// <summary>What its memory is.</summary>
    public MemoryKind MemoryKind { get; init; }
    /// <summary>The index of a partition's GPU.</summary>
    public uint? ParentIndex { get; init; }
    /// <summary>What the vendor's own tools call it.</summary>
    public uint? DriverIndex { get; init; }
    /// <summary>PCI device id.</summary>
    public uint? PciDevice { get; init; }
    /// <summary>Subsystem device id in the high 16 bits, subsystem vendor id in the low ones.</summary>
    public uint? PciSubsystem { get; init; }
    /// <summary>N of /dev/dri/renderDN.</summary>
    public uint? RenderMinor { get; init; }
    /// <summary>The host's NUMA node that is the device's own memory.</summary>
    public uint? NumaNode { get; init; }
    /// <summary>MIG: the GPU instance.</summary>
    public uint? GpuInstance { get; init; }
    /// <summary>MIG: the compute instance.</summary>
    public uint? ComputeInstance { get; init; }
    /// <summary>CUDA version of the driver: 1000 * major + 10 * minor.</summary>
    public uint? CudaVersion { get; init; }
    /// <summary>Windows: the adapter's LUID; macOS: the registry id.</summary>
    public ulong? OsId { get; init; }
    /// <summary>The device's name.</summary>
    public string? Name { get; init; }
    /// <summary>As the vendor writes it: "GPU-…", "MIG-…".</summary>
    public string? Uuid { get; init; }
    /// <summary>Domain, bus, device, function, as in "0000:01:00.0".</summary>
    public string? PciBusId { get; init; }
    /// <summary>The driver's version, as the vendor writes it.</summary>
    public string? DriverVersion { get; init; }

    /// <summary>Of a snapshot: the device's memory pools, the main pool first. Else empty.</summary>
    public IReadOnlyList<Pool> Pools { get; init; } = Array.Empty<Pool>();
    /// <summary>Of a snapshot: load, temperature and power; null when not asked for or not to be had.</summary>
    public Telemetry? Telemetry { get; init; }
    /// <summary>Of a snapshot: what the calling process uses on the device; null when not asked for or
    /// not to be had.</summary>
    public Usage? OwnUsage { get; init; }
    /// <summary>Of a snapshot: each single number that the sources tell. Else empty.</summary>
    public IReadOnlyList<Metric> Metrics { get; init; } = Array.Empty<Metric>();

    internal static unsafe Device From(IntPtr record)
    {
        var from = (DeviceRecord*)record;
        return new Device
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            Index = from->Index,
            Kind = (DeviceKind)from->Kind,
            State = (State)from->State,
            Vendor = (Vendor)from->Vendor,
            MemoryKind = (MemoryKind)from->MemoryKind,
            ParentIndex = from->ParentIndex,
            DriverIndex = from->DriverIndex,
            PciDevice = from->PciDevice,
            PciSubsystem = from->PciSubsystem,
            RenderMinor = from->RenderMinor,
            NumaNode = from->NumaNode,
            GpuInstance = from->GpuInstance,
            ComputeInstance = from->ComputeInstance,
            CudaVersion = from->CudaVersion,
            OsId = from->OsId,
            Name = from->Name,
            Uuid = from->Uuid,
            PciBusId = from->PciBusId,
            DriverVersion = from->DriverVersion,
        };
    }
}
