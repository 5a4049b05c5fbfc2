package webhooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/problem"
)

// A cursor is base64url of a mark and the last id of a page. The mark is a digest that binds
// the id to tenant and filter. It guards against mistakes, not against forgery, which would
// gain nothing: a list is read under the caller's own tenant whatever the cursor says.
const markSize = 9

func mark(id, tenantID, filter string) []byte {
	sum := sha256.Sum256([]byte("v1\x00" + tenantID + "\x00" + filter + "\x00" + id))
	return sum[:markSize]
}

func makeCursor(id, tenantID, filter string) string {
	return base64.RawURLEncoding.EncodeToString(append(mark(id, tenantID, filter), id...))
}

// openCursor returns the id after which a page starts.
func openCursor(cursor, tenantID, filter string) (id string, err error) {
	refused := problem.InQuery(problem.CodeInvalidCursor, "cursor", "was not issued for this list")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= markSize {
		return "", refused
	}
	id = string(raw[markSize:])
	if !endpoint.ValidID(id) || !bytes.Equal(raw[:markSize], mark(id, tenantID, filter)) {
		return "", refused
	}
	return id, nil
}
