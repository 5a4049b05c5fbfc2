//go:build emulator

package e2e

import (
	"strings"
	"testing"
)

// TestTheDocumentedSession runs the commands of infra/docs/api.md as they stand, in a folder
// of their own.
func TestTheDocumentedSession(t *testing.T) {
	t.Parallel()
	out := shell(t, blocks(t, "api.md"))
	for _, want := range []string{
		`verified user.created {"type":"user.created","data":{"userId":"user_1"}}`,
		`"status":"disabled"`, `"status":"deleted"`, `"code":"validation_failed"`, `"secret_rotated_at":"2`,
		`"next_cursor":null`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the session does not print %s:\n%s", want, out)
		}
	}
	if strings.Contains(out, `" 400 -`) { // the receiver's line for a delivery that it refused
		t.Error("a delivery was refused")
	}
}
