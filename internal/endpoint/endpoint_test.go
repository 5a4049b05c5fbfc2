package endpoint_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/event"
)

func TestIDsHaveTheirFormAndSortByTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	last := ""
	for i := range 100 {
		id, err := endpoint.NewID(now.Add(time.Duration(i)*time.Millisecond), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !endpoint.ValidID(id) || id <= last {
			t.Errorf("%q after %q", id, last)
		}
		last = id
	}
	if _, err := endpoint.NewID(now, iotest.ErrReader(errNone)); err == nil {
		t.Error("an id without randomness")
	}
}

var errNone = iotest.ErrTimeout

func TestWhatIsNoID(t *testing.T) {
	const id = "webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA"
	if !endpoint.ValidID(id) {
		t.Fatalf("%s is valid", id)
	}
	for _, bad := range []string{
		"", "webhook_", id[8:], id + "A", id[:len(id)-1], strings.ToLower(id), "WEBHOOK_" + id[8:], "webhook_" + id, id[:33] + "U", " " + id, "#counts",
		"webhook_8" + id[9:], "webhook_0000000000000000000000000\x00",
	} {
		if endpoint.ValidID(bad) {
			t.Errorf("%q is valid", bad)
		}
	}
}

func TestOnlyAnActiveEndpointWantsWhatItSubscribedTo(t *testing.T) {
	for status, wants := range map[endpoint.Status]bool{endpoint.Active: true, endpoint.Disabled: false, endpoint.Deleted: false, "": false} {
		e := endpoint.Endpoint{Status: status, Events: []string{"user.created", "organization.*"}}
		for _, name := range event.Types() {
			subscribed := name == "user.created" || strings.HasPrefix(name, "organization.")
			if e.Wants(name) != (wants && subscribed) {
				t.Errorf("%q endpoint, %s: %v", status, name, e.Wants(name))
			}
		}
		if live := status != endpoint.Deleted; e.Live() != live {
			t.Errorf("%q is live: %v", status, e.Live())
		}
	}
}
