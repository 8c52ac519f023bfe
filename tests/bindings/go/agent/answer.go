// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"hypomnesis.invalid/bindings/go"
)

// answer collects lines `key<TAB>value`.
type answer struct {
	lines strings.Builder
}

func (a *answer) flush() {
	fmt.Fprintln(os.Stdout, a.lines.String())
	a.lines.Reset()
}

var escapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

func (a *answer) writeLine(key, text string) {
	a.lines.WriteString(key + "\t" + text + "\n")
}

// formatValue formats a value for the protocol by its kind: enumerations are numbers.
func formatValue(value reflect.Value) string {
	if get := value.MethodByName("Get"); get.IsValid() {
		result := get.Call(nil)
		if !result[1].Bool() {
			return "null"
		}
		value = result[0]
	}
	switch known := value.Interface().(type) {
	case time.Time:
		return strconv.FormatUint(uint64(known.Unix())*1e9+uint64(known.Nanosecond()), 10)
	}
	switch value.Kind() {
	case reflect.String:
		return `"` + escapes.Replace(value.String())
	case reflect.Bool:
		if value.Bool() {
			return "1"
		}
		return "0"
	case reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'g', -1, 64)
	case reflect.Int32, reflect.Int64:
		return strconv.FormatInt(value.Int(), 10)
	}
	return strconv.FormatUint(value.Uint(), 10)
}

func (a *answer) writeField(key string, value interface{}) {
	if key == "error" {
		a.writeLine(key, value.(string))
		return
	}
	a.writeLine(key, formatValue(reflect.ValueOf(value)))
}

func (a *answer) writeValue(value interface{}) {
	a.writeField("value", value)
}

// textFields are not part of a record in the protocol: they have their own requests.
var textFields = map[reflect.Type]map[string]bool{
	reflect.TypeOf(hypomnesis.Usage{}): {"Name": true, "Command": true, "Container": true},
	reflect.TypeOf(hypomnesis.Group{}): {"Name": true},
}

// times have another name in C.
var times = map[string]string{"time": "unix_time_ns", "start_time": "start_unix_ns"}

// writeRecord writes each field under its C name.
func (a *answer) writeRecord(record interface{}) {
	value := reflect.ValueOf(record)
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		if textFields[value.Type()][field.Name] {
			continue
		}
		key := field.Tag.Get("json")
		if name, ok := times[key]; ok {
			key = name
		}
		a.writeLine(key, formatValue(value.Field(i)))
	}
}

// check writes a failure, if there is one, and null for an absent value; it reports success.
func (a *answer) check(err error) bool {
	var failure *hypomnesis.Error
	switch {
	case err == nil:
		return true
	case errors.Is(err, hypomnesis.ErrClosed):
		a.writeField("error", "closed")
	case errors.Is(err, hypomnesis.ErrEmpty):
		a.writeLine("value", "null")
	case errors.As(err, &failure):
		a.writeField("error", failure.Status.String())
		a.writeField("message", failure.Message)
	default:
		a.writeField("error", err.Error())
	}
	return false
}

// answerValue answers with a single value, answerRecord with a record.
func answerValue[T any](a *agent, read func() (T, error)) {
	if value, err := read(); a.check(err) {
		a.writeValue(value)
	}
}

func answerRecord[T any](a *agent, read func() (T, error)) {
	if record, err := read(); a.check(err) {
		a.writeRecord(record)
	}
}
