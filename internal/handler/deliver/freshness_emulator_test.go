//go:build emulator

package deliver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/signature"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

func TestHandler_Process_holdsChangesForARetryThatWaits(t *testing.T) {
	t.Run("a new URL", func(t *testing.T) {
		r := newRig(t)
		old := receivers.New(t, r.ca, receivers.Status(500))
		r.retryWaits(old)
		other := receivers.New(t, r.ca, nil)
		r.change(func(e *endpoint.Endpoint) { e.URL = other.URL })
		r.pump(r.retryQ, 5*time.Second)
		if len(old.Requests()) != 1 || len(other.Requests()) != 1 || r.stateOf().State != delivery.Acknowledged {
			t.Errorf(
				"%d requests at the old URL, %d at the new, %s", len(old.Requests()), len(other.Requests()),
				r.stateOf().State,
			)
		}
	})
	t.Run("a rotated secret, and the id and body stay", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.retryWaits(to)
		r.change(func(e *endpoint.Endpoint) { e.SecretVersion++; e.SealedSecret = r.seal(*e, "whs_second") })
		r.pump(r.retryQ, 5*time.Second)
		got := to.Wait(t, 2, 5*time.Second)
		for i, secret := range []string{"whs_first", "whs_second"} {
			want := signature.Sign(secret, got[i].Header.Get("wh-id"), seconds(t, got[i].Header), got[i].Body)
			if got[i].Header.Get("wh-signature") != want {
				t.Errorf("attempt %d is not signed with %s", i+1, secret)
			}
		}
		if got[0].Header.Get("wh-id") != got[1].Header.Get("wh-id") || string(got[0].Body) != string(got[1].Body) {
			t.Error("the id or the body changed")
		}
	})
	t.Run("changed events do not: subscriptions are decided at fan-out", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.retryWaits(to)
		r.change(func(e *endpoint.Endpoint) { e.Events = []string{"organization.*"} })
		r.pump(r.retryQ, 5*time.Second)
		if len(to.Requests()) != 2 {
			t.Errorf("%d requests, want 2", len(to.Requests()))
		}
	})
	t.Run("disabled, then re-enabled", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.retryWaits(to)
		r.change(func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
		r.pump(r.retryQ, 5*time.Second)
		s := r.stateOf()
		if len(to.Requests()) != 1 || s.State != delivery.Waiting || s.Reason != delivery.ReasonEndpointDisabled {
			t.Errorf("disabled: %d requests, %+v", len(to.Requests()), s)
		}
		if items := r.waiting(); len(items) != 1 || !items[0].Held || r.itemOf().State != health.Disabled {
			t.Errorf("held %+v under %+v", items, r.itemOf())
		}
		r.change(func(e *endpoint.Endpoint) { e.Status = endpoint.Active })
		r.release()
		r.pump(r.retryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 2 || s.State != delivery.Acknowledged {
			t.Errorf("re-enabled: %d requests, %+v", len(to.Requests()), s)
		}
	})
	t.Run("deleted and restored before the retry is received", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.retryWaits(to)
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} })
		r.pump(r.retryQ, 5*time.Second)
		got := to.Wait(t, 2, 5*time.Second)
		if s := r.stateOf(); len(got) != 2 || s.State != delivery.Acknowledged || s.Attempts != 2 {
			t.Errorf("%d requests, %+v", len(got), s)
		}
		if got[0].Header.Get("wh-id") != got[1].Header.Get("wh-id") {
			t.Error("the id changed")
		}
	})
	t.Run("deleted, then restored", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.retryWaits(to)
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
		r.pump(r.retryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 1 || s.State != delivery.Discarded {
			t.Errorf("deleted: %d requests, %+v", len(to.Requests()), s)
		}
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} })
		r.publish("user.updated")
		r.pump(r.deliveryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 2 || s.State != delivery.Acknowledged {
			t.Errorf("restored: %d requests, %+v", len(to.Requests()), s)
		}
	})
}

func TestHandler_Process_holdsChangesBetweenTwoBatches(t *testing.T) {
	r := newRig(t)
	to := receivers.New(t, r.ca, nil)
	other := receivers.New(t, r.ca, nil)
	r.create(to.URL, "user.*")
	step := func(name string, change func(*endpoint.Endpoint), messages, here, there int) {
		t.Helper()
		r.change(change)
		r.publish("user.created")
		got := r.pump(r.deliveryQ, time.Second)
		if got != messages || len(to.Requests()) != here || len(other.Requests()) != there {
			t.Errorf(
				"%s: %d messages, %d and %d requests; want %d, %d and %d", name, got, len(to.Requests()),
				len(other.Requests()), messages, here, there,
			)
		}
	}
	step("as created", func(*endpoint.Endpoint) {}, 1, 1, 0)
	step("a new URL", func(e *endpoint.Endpoint) { e.URL = other.URL }, 1, 1, 1)
	step("changed events", func(e *endpoint.Endpoint) { e.Events = []string{"user.deleted"} }, 0, 1, 1)
	step("every event", func(e *endpoint.Endpoint) { e.Events = []string{"*"} }, 1, 1, 2)
	step("disabled", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled }, 0, 1, 2)
	step("re-enabled", func(e *endpoint.Endpoint) { e.Status = endpoint.Active }, 1, 1, 3)
	step("deleted", func(e *endpoint.Endpoint) { e.Status = endpoint.Deleted }, 0, 1, 3)
	step("restored", func(e *endpoint.Endpoint) { e.Status = endpoint.Active }, 1, 1, 4)
	step("rotated", func(e *endpoint.Endpoint) { e.SecretVersion++; e.SealedSecret = r.seal(*e, "whs_new") }, 1, 1, 5)
	last := other.Requests()[4]
	want := signature.Sign("whs_new", last.Header.Get("wh-id"), seconds(t, last.Header), last.Body)
	if last.Header.Get("wh-signature") != want {
		t.Error("the delivery after the rotation is not signed with the new secret")
	}
}

func seconds(t *testing.T, h http.Header) int64 {
	t.Helper()
	at, err := time.ParseDuration(h.Get("wh-timestamp") + "s")
	if err != nil {
		t.Fatal(err)
	}
	return int64(at / time.Second)
}
