// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestOptionalDistinguishesAbsentFromZero(t *testing.T) {
	var absent Optional[uint64]
	zero := Some(uint64(0))
	value, ok := absent.Get()
	expect(t, "absent", fmt.Sprint(value, ok, absent.Present(), absent.Or(7), absent), "0 false false 7 unknown")
	value, ok = zero.Get()
	expect(t, "zero", fmt.Sprint(value, ok, zero.Present(), zero.Or(7), zero), "0 true true 0 0")
	expect(t, "they differ", absent == zero, false)
}

func TestOptionalIsNullInJSONWhereAbsent(t *testing.T) {
	type record struct {
		Wide Optional[uint64] `json:"wide"`
		None Optional[string] `json:"none"`
	}
	text, err := json.Marshal(record{Wide: Some(^uint64(0))})
	expectError(t, "error", err, nil)
	expect(t, "text", string(text), `{"wide":18446744073709551615,"none":null}`)
	read := record{None: Some("x")}
	expectError(t, "error", json.Unmarshal(text, &read), nil)
	expect(t, "read", read, record{Wide: Some(^uint64(0))})
	expect(t, "refused", json.Unmarshal([]byte(`{"wide":"much"}`), &read) != nil, true)
}
