// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

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

func (a *answer) line(key, text string) {
	a.lines.WriteString(key + "\t" + text + "\n")
}

// written is a value as the protocol has it, by its kind alone: enumerations are numbers here.
func written(value reflect.Value) string {
	if get := value.MethodByName("Get"); get.IsValid() {
		got := get.Call(nil)
		if !got[1].Bool() {
			return "null"
		}
		value = got[0]
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

func (a *answer) field(key string, value interface{}) {
	if key == "error" {
		a.line(key, value.(string))
		return
	}
	a.line(key, written(reflect.ValueOf(value)))
}

func (a *answer) value(value interface{}) {
	a.field("value", value)
}

// The texts of a snapshot's rows are asked for by themselves.
var textsOf = map[reflect.Type]map[string]bool{
	reflect.TypeOf(hypomnesis.Usage{}): {"Name": true, "Command": true, "Container": true},
	reflect.TypeOf(hypomnesis.Group{}): {"Name": true},
}

// record gives each field by its name in C.
func (a *answer) record(record interface{}) {
	value := reflect.ValueOf(record)
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		if textsOf[value.Type()][field.Name] {
			continue
		}
		a.line(field.Tag.Get("json"), written(value.Field(i)))
	}
}

// done answers with a failure, if there was one; what there is not is null.
func (a *answer) done(err error) bool {
	var failure *hypomnesis.Error
	switch {
	case err == nil:
		return true
	case errors.Is(err, hypomnesis.ErrClosed):
		a.field("error", "closed")
	case errors.Is(err, hypomnesis.ErrEmpty):
		a.line("value", "null")
	case errors.As(err, &failure):
		a.field("error", failure.Status.String())
		a.field("message", failure.Message)
	default:
		a.field("error", err.Error())
	}
	return false
}

// value answers with one value, record with a record.
func say[T any](a *agent, ask func() (T, error)) {
	if value, err := ask(); a.done(err) {
		a.value(value)
	}
}

func add_record[T any](a *agent, ask func() (T, error)) {
	if record, err := ask(); a.done(err) {
		a.record(record)
	}
}
