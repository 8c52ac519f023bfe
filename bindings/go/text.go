// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"bytes"
	"fmt"
	"strings"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// text is what stands before the terminator.
func text(field []byte) string {
	if end := bytes.IndexByte(field, 0); end >= 0 {
		field = field[:end]
	}
	return string(field)
}

// argument is a text for C, which would take a NUL byte as its end.
func argument(name, value string) ([]byte, error) {
	if strings.IndexByte(value, 0) >= 0 {
		return nil, refusal(StatusArgument, fmt.Sprintf("%s %q holds a NUL byte", name, value))
	}
	return raw.Text(value), nil
}
