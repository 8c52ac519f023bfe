// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestOptional(t *testing.T) {
	var absent Optional[uint64]
	zero := Some(uint64(0))
	value, ok := absent.Get()
	want(t, "absent", fmt.Sprint(value, ok, absent.Present(), absent.Or(7), absent), "0 false false 7 unknown")
	value, ok = zero.Get()
	want(t, "zero", fmt.Sprint(value, ok, zero.Present(), zero.Or(7), zero), "0 true true 0 0")
	want(t, "they differ", absent == zero, false)
}

func TestOptionalJSON(t *testing.T) {
	type record struct {
		Wide Optional[uint64] `json:"wide"`
		None Optional[string] `json:"none"`
	}
	text, err := json.Marshal(record{Wide: Some(^uint64(0))})
	wantError(t, "error", err, nil)
	want(t, "text", string(text), `{"wide":18446744073709551615,"none":null}`)
	read := record{None: Some("x")}
	wantError(t, "error", json.Unmarshal(text, &read), nil)
	want(t, "read", read, record{Wide: Some(^uint64(0))})
	want(t, "refused", json.Unmarshal([]byte(`{"wide":"much"}`), &read) != nil, true)
}
