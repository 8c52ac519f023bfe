// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

type fact struct {
	Name, Type string
	Present    *string
}

type facts struct {
	Constants map[string]int64
	Functions map[string][]string
	Structs   map[string]struct{ Fields []fact }
}

func readFacts(t *testing.T) facts {
	text, err := os.ReadFile("../abi.json")
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

// Words that Go spells with other capitals than the first letter.
var capitals = map[string]string{"amd": "AMD", "amdgpu": "AMDGPU", "cuda": "CUDA", "gpu": "GPU", "id": "ID", "kfd": "KFD", "mhz": "MHz",
	"drm": "DRM", "npu": "NPU", "numa": "NUMA", "nvidia": "NVIDIA", "nvml": "NVML", "os": "OS", "pci": "PCI", "pcie": "PCIe", "pid": "PID",
	"ecc": "ECC", "rocm": "ROCm", "sm": "SM", "soc": "SoC", "rpm": "RPM", "smi": "SMI", "uid": "UID", "uuid": "UUID", "vram": "VRAM",
	"dxgi": "DXGI", "hresult": "HRESULT", "ntstatus": "NTSTATUS", "pdh": "PDH",
	"bf16": "BF16", "f8e4m3": "F8E4M3", "f8e5m2": "F8E5M2", "f8e8m0": "F8E8M0", "f6e2m3": "F6E2M3", "f6e3m2": "F6E3M2"}

func goName(name string) string {
	words := strings.Split(strings.ToLower(name), "_")
	for i, word := range words {
		if capital, ok := capitals[word]; ok {
			words[i] = capital
		} else if word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// goConstant returns the name in Go of a constant of C; "" for one that Go does not need.
func goConstant(name string) string {
	name = strings.TrimPrefix(name, "HMN_")
	switch {
	case strings.Contains(name, "_SIZE_V"):
		return ""
	case name == "OK":
		return "StatusOK"
	case strings.HasPrefix(name, "TEXT_"):
		return "t" + goName(name)[1:]
	case strings.HasPrefix(name, "E_"):
		return "Status" + goName(name[2:])
	}
	translated := goName(name)
	for _, prefix := range []string{"BackendInfoHas", "DiagnosticHas", "DeltaHas", "SamplerInfoHas", "PeakHas",
		"TrackerInfoHas", "TrackerLimited", "SpillSampleHas", "SpillInfoHas", "EpisodeHas"} {
		if strings.HasPrefix(translated, prefix) {
			return strings.ToLower(translated[:1]) + translated[1:]
		}
	}
	return translated
}

func readConstants(t *testing.T, file string) map[string]int64 {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("constants", files, []*ast.File{syntax}, nil)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		if object, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			constants[name], _ = constant.Int64Val(object.Val())
		}
	}
	return constants
}

func TestABIConstantsAreThoseOfTheHeader(t *testing.T) {
	constants := readConstants(t, "constants.go")
	for name, value := range readFacts(t).Constants {
		translated := goConstant(name)
		if translated == "" {
			continue
		}
		if actual, ok := constants[translated]; !ok {
			t.Errorf("%s: no %s", name, translated)
		} else if actual != value {
			t.Errorf("%s is %d, %s is %d", name, value, translated, actual)
		}
		delete(constants, translated)
	}
	for name := range constants {
		t.Errorf("%s is not in the header", name)
	}
}

// makers are the functions that make the public records from raw ones.
var makers = map[string]interface{}{
	"hmn_backend_info": newBackendInfo, "hmn_process_memory": newProcessMemory,
	"hmn_system_memory": newSystemMemory, "hmn_device": newDevice, "hmn_pool": newPool,
	"hmn_telemetry": newTelemetry, "hmn_metric": newMetric, "hmn_group": newGroup, "hmn_usage": newUsage, "hmn_snapshot_info": newSnapshotInfo,
	"hmn_diagnostic": newDiagnostic, "hmn_delta": newDelta, "hmn_sampler_info": newSamplerInfo, "hmn_peak": newPeak,
	"hmn_spill_info": newSpillInfo, "hmn_episode": newEpisode, "hmn_tracker_info": newTrackerInfo, "hmn_tag": newTag, "hmn_error": newError,
}

// inputs are structs that are not results; neither are those that end in _options.
var inputs = map[string]bool{"hmn_packing": true, "hmn_attention": true, "hmn_cache": true, "hmn_spill_sample": true,
	"hmn_metric_key": true, "hmn_reason_key": true}

// times are fields that are a time.Time.
var times = map[string]string{"unix_time_ns": "time", "start_unix_ns": "start_time"}

var hidden = map[string]bool{"struct_size": true, "present": true, "reserved0": true}

// setNonZero sets a field of a raw record to a value that is not its zero.
func setNonZero(field reflect.Value) {
	switch field.Kind() {
	case reflect.Array:
		field.Index(0).SetUint('x')
	case reflect.Float64:
		field.SetFloat(1.5)
	case reflect.Int32, reflect.Int64:
		field.SetInt(-1)
	default:
		field.SetUint(1)
	}
}

// isAbsent reports whether a public field is an absent Optional.
func isAbsent(field reflect.Value) bool {
	present := field.MethodByName("Present")
	return present.IsValid() && !present.Call(nil)[0].Bool()
}

// Each field of each record is in the public type by its name, has the value that C set, and is present
// exactly when its presence bit is set.
func TestABIFieldsAreCopiedByPresence(t *testing.T) {
	facts := readFacts(t)
	for name, record := range facts.Structs {
		if strings.HasSuffix(name, "_options") || inputs[name] {
			continue
		}
		maker := reflect.ValueOf(makers[name])
		if !maker.IsValid() {
			t.Errorf("%s has no public type", name)
			continue
		}
		for _, field := range record.Fields {
			if !hidden[field.Name] {
				checkField(t, facts, name, field, maker)
			}
		}
	}
}

func checkField(t *testing.T, header facts, record string, field fact, maker reflect.Value) {
	convert := func(present uint32) reflect.Value {
		source := reflect.New(maker.Type().In(0).Elem())
		words := strings.Split(field.Name, "_")
		for i, word := range words {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
		setNonZero(source.Elem().FieldByName(strings.Join(words, "")))
		if bits := source.Elem().FieldByName("Present"); bits.IsValid() {
			bits.SetUint(uint64(present))
		}
		result := reflect.Indirect(maker.Call([]reflect.Value{source})[0])
		name, tag := strings.TrimSuffix(field.Name, "_ns"), field.Name
		if time, ok := times[field.Name]; ok {
			name, tag = time, time
		}
		kind, ok := result.Type().FieldByName(goName(name))
		if !ok {
			t.Fatalf("%s.%s is not in %v", record, field.Name, result.Type())
		}
		if kind.Tag.Get("json") != tag {
			t.Errorf("%s.%s is tagged %q", record, field.Name, kind.Tag.Get("json"))
		}
		return result.FieldByIndex(kind.Index)
	}
	if field.Present == nil {
		if value := convert(0); isAbsent(value) || value.IsZero() {
			t.Errorf("%s.%s has no presence bit and is lost", record, field.Name)
		}
		return
	}
	bit := uint32(header.Constants[*field.Present])
	if value := convert(^bit); !isAbsent(value) {
		t.Errorf("%s.%s is there without %s", record, field.Name, *field.Present)
	}
	if value := convert(bit); isAbsent(value) || value.MethodByName("Get").Call(nil)[0].IsZero() {
		t.Errorf("%s.%s is not there with %s", record, field.Name, *field.Present)
	}
}

// Each status of the header has an error of its own, and there are no other errors.
func TestABIStatusesHaveOneErrorEach(t *testing.T) {
	statuses := map[error]Status{}
	for name, value := range readFacts(t).Constants {
		if !strings.HasPrefix(name, "HMN_E_") || strings.Contains(name, "_SIZE_V") {
			continue
		}
		status := Status(value)
		failure := raw.NewError()
		failure.Status = int32(value)
		_, err := checkResult(0, failure)
		sentinel := sentinels[status]
		if sentinel == nil || !isError(err, sentinel) {
			t.Errorf("%s: %v is no %v", name, err, sentinel)
		}
		if other, exists := statuses[sentinel]; exists {
			t.Errorf("%v and %v have one error", status, other)
		}
		statuses[sentinel] = status
		if status.String() != name {
			t.Errorf("%d is %v, not %s", value, status, name)
		}
	}
	if len(statuses) != len(sentinels) {
		t.Errorf("%d statuses, %d errors", len(statuses), len(sentinels))
	}
}

// Starts of the C functions of the raw layer, of the wrappers that Go calls, and of the methods that they call.
var (
	start   = regexp.MustCompile(`(?m)^[A-Za-z].*\) ?\{$`)
	wrapper = regexp.MustCompile(`_wrap_(\w+)_raw_[0-9a-f]+\(`)
	method  = regexp.MustCompile(`^[\w *]*?\b(new_|delete_|Context_|Snapshot_|Sampler_|Spill_|Tracker_|)([a-z]\w*)\(`)
)

// rawNames returns the names in Go of the pieces of the raw layer that call a C function.
func rawNames(pieces []string, function string) map[string]bool {
	names := map[string]bool{}
	call := regexp.MustCompile(`\b` + function + `\(`)
	for _, piece := range pieces {
		if !call.MatchString(piece) {
			continue
		}
		if match := wrapper.FindStringSubmatch(piece); match != nil {
			names[strings.ToUpper(match[1][:1])+match[1][1:]] = true
		} else if match := method.FindStringSubmatch(piece); match != nil {
			prefix := map[string]string{"new_": "New", "delete_": "Delete"}[match[1]]
			words := strings.Split(match[2], "_")
			for i, word := range words {
				words[i] = strings.ToUpper(word[:1]) + word[1:]
			}
			names[prefix+strings.Join(words, "")] = true
		}
	}
	return names
}

// selectorNames returns all names that follow a dot in the package's own code.
func selectorNames(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names, set := map[string]bool{}, token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				names[selector.Sel.Name] = true
			}
			return true
		})
	}
	return names
}

// Each function of the header is called by a part of the raw layer that this package calls.
func TestABIFunctionsAreAllCalled(t *testing.T) {
	functions := readFacts(t).Functions
	code, err := os.ReadFile("internal/raw/generated.c")
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	starts := start.FindAllIndex(code, -1)
	for i := 1; i < len(starts); i++ {
		pieces = append(pieces, string(code[starts[i-1][0]:starts[i][0]]))
	}
	used := selectorNames(t)
	isReached := func(function string) bool {
		for name := range rawNames(pieces, function) {
			if used[name] {
				return true
			}
		}
		return false
	}
	for function := range functions {
		if !isReached(function) {
			t.Errorf("%s cannot be reached", function)
		}
	}
	if len(functions) == 0 || isReached("hmn_nothing") {
		t.Error("there is nothing to check")
	}
}
