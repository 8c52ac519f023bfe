// SPDX-License-Identifier: MIT OR Apache-2.0

// bench MACHINE... prints the cost of a snapshot copied whole, in Go and in C, on each machine file,
// compared with a bare call through the same binding. It asserts nothing.
package main

/*
#cgo pkg-config: hypomnesis
#include <hypomnesis.h>
#include <stdlib.h>

enum { MAX_RECORDS = 256, NAME_SIZE = 64 };

static hmn_context *open_machine(const char *path) {
	hmn_context *context = NULL;
	if (hmn_context_create(NULL, &context, NULL) != HMN_OK) return NULL;
	if (hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL) == HMN_OK) return context;
	hmn_context_destroy(context);
	return NULL;
}

#define COPY_EACH(count, record, CALL) \
	for (i = 0; i < (count) && i < MAX_RECORDS; i++) { \
		record[i].struct_size = sizeof record[i]; \
		(CALL); \
	}

// Copies a whole snapshot as a C program would; returns the number of objects.
static uint32_t copy_snapshot(const hmn_snapshot *snapshot) {
	static hmn_device device[MAX_RECORDS];
	static hmn_telemetry telemetry[MAX_RECORDS];
	static hmn_usage self[MAX_RECORDS], usage[MAX_RECORDS];
	static hmn_pool pool[MAX_RECORDS];
	static hmn_diagnostic diagnostic[MAX_RECORDS];
	static char name[MAX_RECORDS][NAME_SIZE];
	hmn_snapshot_info info = {sizeof info};
	hmn_process_memory memory = {sizeof memory};
	hmn_system_memory system = {sizeof system};
	uint32_t i;
	hmn_snapshot_read(snapshot, &info, NULL);
	hmn_snapshot_memory(snapshot, &memory, NULL);
	hmn_snapshot_system(snapshot, &system, NULL);
	COPY_EACH(info.device_count, device, hmn_snapshot_device_at(snapshot, i, &device[i], NULL))
	COPY_EACH(info.device_count, telemetry, hmn_snapshot_find_telemetry(snapshot, i, &telemetry[i], NULL))
	COPY_EACH(info.device_count, self, hmn_snapshot_find_self(snapshot, i, &self[i], NULL))
	COPY_EACH(info.pool_count, pool, hmn_snapshot_pool_at(snapshot, i, &pool[i], NULL))
	COPY_EACH(info.usage_count, usage, hmn_snapshot_usage_at(snapshot, i, &usage[i], NULL))
	for (i = 0; i < info.usage_count && i < MAX_RECORDS; i++) {
		hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_NAME, i, name[i], NAME_SIZE, NULL, NULL);
	}
	COPY_EACH(info.diagnostic_count, diagnostic, hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic[i], NULL))
	return 3 * info.device_count + info.pool_count + info.usage_count + info.diagnostic_count + 3;
}

static uint32_t take_many(hmn_context *context, uint32_t times, int copy) {
	hmn_snapshot_options options = {sizeof options};
	uint32_t objects = 0;
	options.collect = 127;
	while (times--) {
		hmn_snapshot *snapshot = NULL;
		if (hmn_snapshot_take(context, &options, &snapshot, NULL) != HMN_OK) return 0;
		if (copy) objects = copy_snapshot(snapshot);
		hmn_snapshot_destroy(snapshot);
	}
	return objects;
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"hypomnesis.invalid/bindings/go"
)

const (
	rounds = 25
	times  = 200
	calls  = 1000000
)

// measureFastest returns the time of the fastest round: other work of the machine only adds time.
func measureFastest(times int, work func()) time.Duration {
	var best time.Duration
	for round := 0; round < rounds; round++ {
		start := time.Now()
		work()
		if duration := time.Since(start) / time.Duration(times); round == 0 || duration < best {
			best = duration
		}
	}
	return best
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measureGo(path string) time.Duration {
	hmn, err := hypomnesis.NewContext(nil)
	must(err)
	defer hmn.Close()
	must(hmn.SetPath(hypomnesis.PathSimulation, path))
	options := &hypomnesis.SnapshotOptions{Collect: 127}
	return measureFastest(times, func() {
		for i := 0; i < times; i++ {
			snapshot, err := hmn.Take(context.Background(), options)
			must(err)
			snapshot.Close()
		}
	})
}

func measureC(path string) (cTake, cTotal time.Duration, objects uint32) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	hmn := C.open_machine(name)
	if hmn == nil {
		must(fmt.Errorf("no context on %s", path))
	}
	defer C.hmn_context_destroy(hmn)
	cTake = measureFastest(times, func() { C.take_many(hmn, times, 0) })
	cTotal = measureFastest(times, func() { objects = uint32(C.take_many(hmn, times, 1)) })
	return cTake, cTotal, objects
}

func main() {
	bareCall := measureFastest(calls, func() {
		for i := 0; i < calls; i++ {
			hypomnesis.VersionNumber()
		}
	})
	fmt.Printf("a bare call: %v\n", bareCall)
	for _, path := range os.Args[1:] {
		absolute, err := filepath.Abs(path)
		must(err)
		cTake, cTotal, objects := measureC(absolute)
		goTotal := measureGo(absolute)
		goCopy := goTotal - cTake
		fmt.Printf("%s: %d objects; taken and copied whole: C %v, Go %v (%.2f times C); "+
			"the copying alone: C %v, Go %v, %.1f bare calls per object\n",
			filepath.Base(path), objects, cTotal, goTotal, float64(goTotal)/float64(cTotal), cTotal-cTake, goCopy,
			float64(goCopy)/float64(objects)/float64(bareCall))
	}
}
