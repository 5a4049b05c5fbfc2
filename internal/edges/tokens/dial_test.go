package tokens_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/tokens"
)

// dialler connects to nobody, and says when it gave up.
type dialler chan time.Time

func (d dialler) DialTLS(ctx context.Context, _ string) (net.Conn, error) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
	d <- time.Now()
	return nil, net.ErrClosed
}

// A connection that is being made ends with its request: nothing goes on behind an attempt, when Lambda freezes the
// process.
func TestClient_Ask_leavesNoConnectionBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		gaveUp := make(dialler, 1)
		_, why := tokens.NewClient(gaveUp, "Herald/test").Ask(ctx, grant("https://id.example/"))
		ended := time.Now()
		if after := (<-gaveUp).Sub(ended); why != "token_unreachable" || after > 0 {
			t.Errorf("%q; the connection was still being made %s later", why, after)
		}
	})
}
