// SPDX-License-Identifier: MIT OR Apache-2.0

// bench MACHINE... prints what a snapshot costs that is copied whole, in Go and in C, on each machine file,
// compared with a bare call through the same binding. It asserts nothing: times are for people.
package main

/*
#cgo pkg-config: hypomnesis
#include <hypomnesis.h>
#include <stdlib.h>

enum { MOST = 256, LONGEST_NAME = 64 };

static hmn_context *open_machine(const char *path) {
	hmn_context *context = NULL;
	if (hmn_context_create(NULL, &context, NULL) != HMN_OK) return NULL;
	if (hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL) == HMN_OK) return context;
	hmn_context_destroy(context);
	return NULL;
}

#define ALL(count, record, CALL) \
	for (i = 0; i < (count) && i < MOST; i++) { \
		record[i].struct_size = sizeof record[i]; \
		(CALL); \
	}

// What a C program does that copies all of a snapshot. Gives the number of objects.
static uint32_t copy_whole(const hmn_snapshot *snapshot) {
	static hmn_device device[MOST];
	static hmn_telemetry telemetry[MOST];
	static hmn_usage self[MOST], usage[MOST];
	static hmn_pool pool[MOST];
	static hmn_diagnostic diagnostic[MOST];
	static char name[MOST][LONGEST_NAME];
	hmn_snapshot_info info = {sizeof info};
	hmn_process_memory memory = {sizeof memory};
	hmn_system_memory system = {sizeof system};
	uint32_t i;
	hmn_snapshot_read(snapshot, &info, NULL);
	hmn_snapshot_memory(snapshot, &memory, NULL);
	hmn_snapshot_system(snapshot, &system, NULL);
	ALL(info.device_count, device, hmn_snapshot_device_at(snapshot, i, &device[i], NULL))
	ALL(info.device_count, telemetry, hmn_snapshot_find_telemetry(snapshot, i, &telemetry[i], NULL))
	ALL(info.device_count, self, hmn_snapshot_find_self(snapshot, i, &self[i], NULL))
	ALL(info.pool_count, pool, hmn_snapshot_pool_at(snapshot, i, &pool[i], NULL))
	ALL(info.usage_count, usage, hmn_snapshot_usage_at(snapshot, i, &usage[i], NULL))
	for (i = 0; i < info.usage_count && i < MOST; i++) {
		hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_NAME, i, name[i], LONGEST_NAME, NULL, NULL);
	}
	ALL(info.diagnostic_count, diagnostic, hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic[i], NULL))
	return 3 * info.device_count + info.pool_count + info.usage_count + info.diagnostic_count + 3;
}

static uint32_t take_many(hmn_context *context, uint32_t times, int copy) {
	hmn_snapshot_options options = {sizeof options};
	uint32_t objects = 0;
	options.collect = 127;
	while (times--) {
		hmn_snapshot *snapshot = NULL;
		if (hmn_snapshot_take(context, &options, &snapshot, NULL) != HMN_OK) return 0;
		if (copy) objects = copy_whole(snapshot);
		hmn_snapshot_destroy(snapshot);
	}
	return objects;
}
*/
import "C"

import (
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

// fastest is the best of some rounds: what the machine does besides only ever adds.
func fastest(times int, work func()) time.Duration {
	var best time.Duration
	for round := 0; round < rounds; round++ {
		started := time.Now()
		work()
		if took := time.Since(started) / time.Duration(times); round == 0 || took < best {
			best = took
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

func inGo(path string) time.Duration {
	context, err := hypomnesis.NewContext(nil)
	must(err)
	defer context.Close()
	must(context.SetPath(hypomnesis.PathSimulation, path))
	options := &hypomnesis.SnapshotOptions{Collect: 127}
	return fastest(times, func() {
		for i := 0; i < times; i++ {
			snapshot, err := context.Take(options)
			must(err)
			snapshot.Close()
		}
	})
}

func inC(path string) (taking, whole time.Duration, objects uint32) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	context := C.open_machine(name)
	if context == nil {
		must(fmt.Errorf("no context on %s", path))
	}
	defer C.hmn_context_destroy(context)
	taking = fastest(times, func() { C.take_many(context, times, 0) })
	whole = fastest(times, func() { objects = uint32(C.take_many(context, times, 1)) })
	return taking, whole, objects
}

func main() {
	bare := fastest(calls, func() {
		for i := 0; i < calls; i++ {
			hypomnesis.VersionNumber()
		}
	})
	fmt.Printf("a bare call: %v\n", bare)
	for _, path := range os.Args[1:] {
		absolute, err := filepath.Abs(path)
		must(err)
		taking, inAll, objects := inC(absolute)
		own := inGo(absolute)
		copying := own - taking
		fmt.Printf("%s: %d objects; taken and copied whole: C %v, Go %v (%.2f times C); "+
			"the copying alone: C %v, Go %v, %.1f bare calls per object\n",
			filepath.Base(path), objects, inAll, own, float64(own)/float64(inAll), inAll-taking, copying,
			float64(copying)/float64(objects)/float64(bare))
	}
}
