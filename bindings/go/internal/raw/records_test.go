// SPDX-License-Identifier: MIT OR Apache-2.0

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

// inputs are no results, as all options are.
var inputs = map[string]bool{"hmn_packing": true, "hmn_attention": true, "hmn_cache": true, "hmn_spill_sample": true,
	"hmn_metric_key": true, "hmn_reason_key": true}

func readFacts(t *testing.T) facts {
	text, err := os.ReadFile("../../../abi.json")
	if os.IsNotExist(err) {
		t.Skip("abi.json is not part of the module")
	}
	var found facts
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// Every record lies in Go as it does in C: by the header, and by the compiler that made this package.
func TestABILayout(t *testing.T) {
	found := readFacts(t)
	kinds := map[string]reflect.Type{}
	for _, mirror := range mirrors {
		kinds[reflect.TypeOf(mirror).Name()] = reflect.TypeOf(mirror)
	}
	for name, record := range found.Structs {
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
			own := kind.Field(i)
			if own.Name != camel(field.Name) || own.Offset != field.Offset || own.Type.Size() != field.Size {
				t.Errorf("%s.%s: at %d, %d bytes; %s in Go: at %d, %d bytes", name, field.Name,
					field.Offset, field.Size, own.Name, own.Offset, own.Type.Size())
			}
		}
	}
	if SizeOf(Text("hmn_nothing")) != 0 {
		t.Error("a struct that is not there has a size")
	}
}

// A record of an older, shorter library leaves the rest absent; nothing is read past its end.
func TestTakeShortRecord(t *testing.T) {
	const short = 48
	memory := Swig_malloc(short)
	from := *(*unsafe.Pointer)(unsafe.Pointer(&memory))
	words := unsafe.Slice((*uint32)(from), short/4)
	for i := range words {
		words[i] = 7
	}
	words[0] = short
	taken := take((*Pool)(from))
	if taken.StructSize != short || taken.Present != 7<<32|7 || taken.TotalBytes != 7<<32|7 || taken.UsedBytes != 0 {
		t.Errorf("%+v", *taken)
	}
	if take((*Pool)(nil)) != nil {
		t.Error("a record was made of nothing")
	}
}

func TestText(t *testing.T) {
	if text := string(Text("añ")); text != "añ\x00" {
		t.Errorf("%q", text)
	}
}
