// Package cursor binds the start of a list's next page to that list.
//
// It promises that a cursor is refused by every list but the one it was made for. It guards against mistakes, not
// against forgery: a forged cursor gains nothing, as long as a list is read with its caller's own rights.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// ErrInvalid is a list's error for a cursor of another list, or of none.
var ErrInvalid = errors.New("invalid cursor")

// digestSize is how many bytes of its digest a cursor carries.
const digestSize = 9

// Make returns the cursor of a start in a list, which is named by everything that tells it from other lists (tenant,
// filter). A cursor is base64url without padding: a digest, then the start.
func Make(start string, list ...string) string {
	return base64.RawURLEncoding.EncodeToString(append(digest(start, list), start...))
}

// Open returns the start that Make was given; ok is false when it was given another list.
func Open(cursor string, list ...string) (start string, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= digestSize {
		return "", false
	}
	start = string(raw[digestSize:])
	return start, string(raw[:digestSize]) == string(digest(start, list))
}

func digest(start string, list []string) []byte {
	sum := sha256.Sum256([]byte("v1\x00" + strings.Join(list, "\x00") + "\x00" + start))
	return sum[:digestSize]
}
