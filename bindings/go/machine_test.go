// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var background = context.Background()

func isError(err, target error) bool {
	return errors.Is(err, target)
}

// openMachine returns a context on a simulated machine.
func openMachine(t testing.TB, description string) *Context {
	t.Helper()
	path := filepath.Join(t.TempDir(), "machine.json")
	if err := os.WriteFile(path, []byte(description), 0o600); err != nil {
		t.Fatal(err)
	}
	hmn, err := NewContext(&ContextOptions{Deadline: time.Minute})
	if err == nil {
		err = hmn.SetPath(PathSimulation, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hmn.Close() })
	return hmn
}

func take(t testing.TB, hmn *Context, collect Collect) *Snapshot {
	t.Helper()
	snapshot, err := hmn.Take(background, &SnapshotOptions{Collect: collect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snapshot.Close() })
	return snapshot
}

func expect[T comparable](t testing.TB, subject string, actual, expected T) {
	t.Helper()
	if actual != expected {
		t.Errorf("%s is %v, not %v", subject, actual, expected)
	}
}

func expectError(t testing.TB, subject string, err, expected error) {
	t.Helper()
	if !errors.Is(err, expected) {
		t.Errorf("%s: %v, not %v", subject, err, expected)
	}
}

// everything selects all parts of a snapshot but metrics and groups.
const everything = CollectMemory | CollectSystem | CollectDevices | CollectPools | CollectSelf |
	CollectProcesses | CollectTelemetry

const twoDevices = `{
 "host": {"self": {"resident": "12MiB", "virtual": "171MiB"},
          "system": {"total": "64GiB", "available": "48GiB"},
          "processes": [{"pid": 40, "name": "größe\tß", "uid": 1000, "resident": "1GiB"}]},
 "devices": [
  {"name": "Größte Karte 猫", "vendor": "nvidia", "uuid": "GPU-1", "pci_bus_id": "0000:01:00.0",
   "pools": [{"kind": "vram", "total": 281474976710656, "free": 281474976710655, "used": null},
             {"kind": "host", "total": "32GiB"}],
   "telemetry": {"temperature_celsius": 41.5, "power_watts": 20.25, "gpu_busy_percent": 0,
                 "pcie_rx_bytes": 18446744073709551615, "throttle": ["idle", "power"]},
   "processes": [{"pid": 40, "used": 281474976710655, "kinds": ["compute"]},
                 {"pid": 41, "used": "1MiB"},
                 {"pid": "self", "used": "5MiB"}]},
  {"uuid": "GPU-2", "pools": [{"kind": "vram", "total": "8GiB"}]}]}`
