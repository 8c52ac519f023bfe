// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"bytes"
	"fmt"
	"strings"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// text returns the text of a char array, up to its terminator.
func text(field []byte) string {
	if end := bytes.IndexByte(field, 0); end >= 0 {
		field = field[:end]
	}
	return string(field)
}

// encodeText returns a text for C, which would be cut at a NUL byte.
func encodeText(name, value string) ([]byte, error) {
	if strings.IndexByte(value, 0) >= 0 {
		return nil, newRefusal(StatusArgument, fmt.Sprintf("%s %q holds a NUL byte", name, value))
	}
	return raw.Text(value), nil
}
