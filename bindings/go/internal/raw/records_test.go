// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build cgo

package raw

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

type facts struct {
	Structs map[string]struct {
		Size   uintptr
		Fields []struct {
			Name         string
			Offset, Size uintptr
		}
	}
}

var mirrors = []interface{}{Error{}, BackendInfo{}, ProcessMemory{}, SystemMemory{}, Device{}, Pool{},
	Telemetry{}, Metric{}, Group{}, Peak{}, SamplerInfo{}, SpillInfo{}, Episode{}, Tag{}, TrackerInfo{}, Usage{}, SnapshotInfo{}, Diagnostic{}, Delta{}}

// inputs are structs that are not results; neither are those that end in _options.
var inputs = map[string]bool{"hmn_packing": true, "hmn_attention": true, "hmn_cache": true, "hmn_spill_sample": true,
	"hmn_metric_key": true, "hmn_reason_key": true}

func readFacts(t *testing.T) facts {
	text, err := os.ReadFile("../../../abi.json")
	if os.IsNotExist(err) {
		t.Skip("abi.json is not part of the module")
	}
	var result facts
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// Every record has the same layout in Go as in C: by the header, and by the compiler that built this package.
func TestABIRecordsHaveTheLayoutOfC(t *testing.T) {
	header := readFacts(t)
	kinds := map[string]reflect.Type{}
	for _, mirror := range mirrors {
		kinds[reflect.TypeOf(mirror).Name()] = reflect.TypeOf(mirror)
	}
	for name, record := range header.Structs {
		if size := SizeOf(Text(name)); uintptr(size) != record.Size {
			t.Errorf("%s has %d bytes as compiled, %d in abi.json", name, size, record.Size)
		}
		if strings.HasSuffix(name, "_options") || inputs[name] {
			continue
		}
		kind, ok := kinds[camel(strings.TrimPrefix(name, "hmn_"))]
		if !ok {
			t.Errorf("%s has no record in Go", name)
			continue
		}
		if kind.Size() != record.Size || kind.NumField() != len(record.Fields) {
			t.Errorf("%s: %d bytes and %d fields in Go, %d and %d in C", name, kind.Size(),
				kind.NumField(), record.Size, len(record.Fields))
			continue
		}
		for i, field := range record.Fields {
			mirror := kind.Field(i)
			if mirror.Name != camel(field.Name) || mirror.Offset != field.Offset || mirror.Type.Size() != field.Size {
				t.Errorf("%s.%s: at %d, %d bytes; %s in Go: at %d, %d bytes", name, field.Name,
					field.Offset, field.Size, mirror.Name, mirror.Offset, mirror.Type.Size())
			}
		}
	}
	if SizeOf(Text("hmn_nothing")) != 0 {
		t.Error("a struct that is not there has a size")
	}
}

// A record of an older library is shorter: the rest is absent, and nothing is read past its end.
func TestTakeLeavesTheRestOfAShortRecordZero(t *testing.T) {
	const short = 48
	memory := Swig_malloc(short)
	source := *(*unsafe.Pointer)(unsafe.Pointer(&memory))
	words := unsafe.Slice((*uint32)(source), short/4)
	for i := range words {
		words[i] = 7
	}
	words[0] = short
	record := take((*Pool)(source))
	if record.StructSize != short || record.Present != 7<<32|7 || record.TotalBytes != 7<<32|7 || record.UsedBytes != 0 {
		t.Errorf("%+v", *record)
	}
	if take((*Pool)(nil)) != nil {
		t.Error("a record was made of nothing")
	}
}

func TestTextIsTerminated(t *testing.T) {
	if text := string(Text("añ")); text != "añ\x00" {
		t.Errorf("%q", text)
	}
}
