// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Device tells who a device is.
type Device struct {
	Notes           Notes            `json:"notes"`   // remarks on the whole record
	Backend         Backend          `json:"backend"` // who measured; of several the first
	Index           uint32           `json:"index"`   // the context's number: never reused, never renumbered
	Kind            Kind             `json:"kind"`
	State           State            `json:"state"`
	Vendor          Vendor           `json:"vendor"` // a PCI vendor id
	MemoryKind      MemoryKind       `json:"memory_kind"`
	ParentIndex     Optional[uint32] `json:"parent_index"`     // a partition's GPU
	DriverIndex     Optional[uint32] `json:"driver_index"`     // what the vendor's own tools call it
	PCIDevice       Optional[uint32] `json:"pci_device"`       // PCI device id
	PCISubsystem    Optional[uint32] `json:"pci_subsystem"`    // subsystem device id << 16 | subsystem vendor id
	RenderMinor     Optional[uint32] `json:"render_minor"`     // N of /dev/dri/renderDN
	NUMANode        Optional[uint32] `json:"numa_node"`        // the host's NUMA node that is the device's own memory
	GPUInstance     Optional[uint32] `json:"gpu_instance"`     // MIG
	ComputeInstance Optional[uint32] `json:"compute_instance"` // MIG
	CUDAVersion     Optional[uint32] `json:"cuda_version"`     // of the driver: 1000 * major + 10 * minor
	OSID            Optional[uint64] `json:"os_id"`            // Windows: adapter LUID; macOS: registry id
	Name            Optional[string] `json:"name"`
	UUID            Optional[string] `json:"uuid"`           // as the vendor writes it: "GPU-…", "MIG-…"
	PCIBusID        Optional[string] `json:"pci_bus_id"`     // "0000:01:00.0": domain, bus, device, function
	DriverVersion   Optional[string] `json:"driver_version"` // as the vendor writes it
}

func newDevice(from *raw.Device) Device {
	return Device{
		Notes:           Notes(from.Notes),
		Backend:         Backend(from.Backend),
		Index:           from.Index,
		Kind:            Kind(from.Kind),
		State:           State(from.State),
		Vendor:          Vendor(from.Vendor),
		MemoryKind:      MemoryKind(from.MemoryKind),
		ParentIndex:     optional(from.Present, DeviceHasParent, from.ParentIndex),
		DriverIndex:     optional(from.Present, DeviceHasDriverIndex, from.DriverIndex),
		PCIDevice:       optional(from.Present, DeviceHasPCIDevice, from.PciDevice),
		PCISubsystem:    optional(from.Present, DeviceHasPCISubsystem, from.PciSubsystem),
		RenderMinor:     optional(from.Present, DeviceHasRenderMinor, from.RenderMinor),
		NUMANode:        optional(from.Present, DeviceHasNUMANode, from.NumaNode),
		GPUInstance:     optional(from.Present, DeviceHasInstance, from.GpuInstance),
		ComputeInstance: optional(from.Present, DeviceHasInstance, from.ComputeInstance),
		CUDAVersion:     optional(from.Present, DeviceHasCUDAVersion, from.CudaVersion),
		OSID:            optional(from.Present, DeviceHasOSID, from.OsId),
		Name:            optional(from.Present, DeviceHasName, text(from.Name[:])),
		UUID:            optional(from.Present, DeviceHasUUID, text(from.Uuid[:])),
		PCIBusID:        optional(from.Present, DeviceHasPCI, text(from.PciBusId[:])),
		DriverVersion:   optional(from.Present, DeviceHasDriver, text(from.DriverVersion[:])),
	}
}
