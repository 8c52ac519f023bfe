// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Which memory of a device.</summary>
public enum PoolKind : uint
{
    /// <summary>Asked for: the pool that allocations come from.</summary>
    Main = Raw.POOL_MAIN,
    /// <summary>The device's own memory.</summary>
    Vram = Raw.POOL_VRAM,
    /// <summary>The part of it that the host can address.</summary>
    VramVisible = Raw.POOL_VRAM_VISIBLE,
    /// <summary>Host RAM mapped for the device (GTT, WDDM shared).</summary>
    Host = Raw.POOL_HOST,
    /// <summary>Host RAM that the device allocates from as its own.</summary>
    Unified = Raw.POOL_UNIFIED,
    /// <summary>Host RAM that firmware set aside.</summary>
    Stolen = Raw.POOL_STOLEN,
}

/// <summary>The figures of a <see cref="Pool"/>; a <see cref="Diagnostic.Field"/> counts in them.</summary>
[Flags]
public enum PoolFields : uint
{
    /// <summary>None.</summary>
    None = 0,
    /// <summary><see cref="Pool.TotalBytes"/>.</summary>
    Total = Raw.POOL_HAS_TOTAL,
    /// <summary><see cref="Pool.FreeBytes"/>.</summary>
    Free = Raw.POOL_HAS_FREE,
    /// <summary><see cref="Pool.UsedBytes"/>.</summary>
    Used = Raw.POOL_HAS_USED,
    /// <summary><see cref="Pool.ReservedBytes"/>.</summary>
    Reserved = Raw.POOL_HAS_RESERVED,
    /// <summary><see cref="Pool.UsableBytes"/>.</summary>
    Usable = Raw.POOL_HAS_USABLE,
    /// <summary><see cref="Pool.BudgetBytes"/>.</summary>
    Budget = Raw.POOL_HAS_BUDGET,
    /// <summary><see cref="Pool.UnattributedBytes"/>.</summary>
    Unattributed = Raw.POOL_HAS_UNATTRIBUTED,
}

/// <summary>One memory pool of a device, device-wide, in bytes; null: not known.</summary>
public sealed record Pool
{
    /// <summary>Remarks on this result.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>Which memory it is, never <see cref="PoolKind.Main"/>.</summary>
    public PoolKind Kind { get; init; }
    /// <summary>What <see cref="UsedBytes"/> counts.</summary>
    public Accounting Accounting { get; init; }
    /// <summary>Allocations come from this pool.</summary>
    public bool IsMain { get; init; }
    /// <summary>All of it.</summary>
    public ulong? TotalBytes { get; init; }
    /// <summary>What is free.</summary>
    public ulong? FreeBytes { get; init; }
    /// <summary>What is used, without <see cref="ReservedBytes"/> where that is known, else with it.</summary>
    public ulong? UsedBytes { get; init; }
    /// <summary>Held by driver and firmware, inside the total: total = reserved + free + used.</summary>
    public ulong? ReservedBytes { get; init; }
    /// <summary>Best estimate of what one could allocate now.</summary>
    public ulong? UsableBytes { get; init; }
    /// <summary>What a policy lets this process use.</summary>
    public ulong? BudgetBytes { get; init; }
    /// <summary>Used, and owned by no process that can be seen; only in snapshots that collect
    /// processes.</summary>
    public ulong? UnattributedBytes { get; init; }
    /// <summary>Nanoseconds since the driver was asked.</summary>
    public ulong AgeNs { get; init; }

    internal static unsafe Pool From(IntPtr record)
    {
        var from = (PoolRecord*)record;
        return new Pool
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            Kind = (PoolKind)from->Kind,
            Accounting = (Accounting)from->Accounting,
            IsMain = from->IsMain != 0,
            TotalBytes = from->TotalBytes,
            FreeBytes = from->FreeBytes,
            UsedBytes = from->UsedBytes,
            ReservedBytes = from->ReservedBytes,
            UsableBytes = from->UsableBytes,
            BudgetBytes = from->BudgetBytes,
            UnattributedBytes = from->UnattributedBytes,
            AgeNs = from->AgeNs,
        };
    }
}
