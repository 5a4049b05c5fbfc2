package egress

import (
	"strconv"
	"strings"
	"sync"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// oneRecord is the largest payload of a TLS record: what fits is sent by one write.
const oneRecord = 16 << 10

// blocks are buffers for the part of a request that is written first.
var blocks = sync.Pool{New: func() any { return new([oneRecord]byte) }}

// appendHead appends the request's head as RFC 9112, 3, has it. The target and the fields have
// been checked, so nothing in them ends a line.
func appendHead(b []byte, to *target, r delivery.Request) []byte {
	b = append(b, to.head...)
	for _, f := range r.Header {
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = append(b, f.Value...)
		b = append(b, "\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(r.Body)), 10)
	return append(b, "\r\n\r\n"...)
}

// sendable reports whether every field is one line of a name and a value (RFC 9110, 5.1 and
// 5.5), and none says how long the request is, where it goes or what becomes of its connection.
func sendable(header []delivery.Field) bool {
	for _, f := range header {
		if !isName(f.Name) || !isValue(f.Value) || isOurs(f.Name) {
			return false
		}
	}
	return true
}

func isName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != ""
}

func isValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// isOurs tells the fields that the client alone decides about.
func isOurs(name string) bool {
	for _, ours := range [...]string{
		"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "Te",
	} {
		if len(name) == len(ours) && strings.EqualFold(name, ours) {
			return true
		}
	}
	return false
}
