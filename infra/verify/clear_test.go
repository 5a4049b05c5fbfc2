package verify

import (
	"context"
	"strings"
	"testing"
)

// The list of keys is read from an index, which may not show one for a moment.
func TestRevokeKeys_endsAKeyThatIsNotListedYet(t *testing.T) {
	revoked := false
	r := operating(t, func(request string) string {
		switch {
		case strings.Contains(request, `"issue"`):
			return `{"key_id":"new","api_key":"text"}`
		case strings.Contains(request, `"revoke"`):
			revoked = strings.Contains(request, `"key_id":"new"`)
		}
		return `{"data":[]}`
	})
	if err := r.issueKey(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := r.revokeKeys(context.Background()); err != nil || !revoked {
		t.Errorf("revoked: %t, %v", revoked, err)
	}
}
