package webhooks

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// changesOf are the changes that meet those of other endpoints, with the answers where they do not.
func changesOf(w *rig, key string) map[string]func() answer {
	live, moved, gone, back := w.create(key).ID, w.create(key).ID, w.create(key).ID, w.create(key).ID
	w.do(key, "DELETE", "/v1/webhooks/"+back, "")
	return map[string]func() answer{
		"201 create":  func() answer { return w.do(key, "POST", "/v1/webhooks", w.fresh()) },
		"201 put":     func() answer { return w.do(key, "PUT", "/v1/webhooks", w.fresh()) },
		"200 move":    func() answer { return w.do(key, "PATCH", "/v1/webhooks/"+moved, w.fresh()) },
		"200 restore": func() answer { return w.do(key, "POST", "/v1/webhooks/"+back+"/restore", "") },
		"204 delete":  func() answer { return w.do(key, "DELETE", "/v1/webhooks/"+gone, "") },
		"200 change":  func() answer { return w.do(key, "PATCH", "/v1/webhooks/"+live, `{"description":"x"}`) },
	}
}

func TestHandler_store_triesAgainWhileOtherEndpointsAreChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, key := newTenant(t)
		for name, change := range changesOf(w, key) {
			w.busy, w.tried = 6, 0
			audited := len(w.auditLines())
			want, _, _ := strings.Cut(name, " ")
			w.expect(name, want, change())
			if lines := len(w.auditLines()) - audited; w.tried != 7 || lines != 1 {
				t.Errorf("%s: %d tries with %d audit lines, want 7 with one", name, w.tried, lines)
			}
		}
	})
}

func TestHandler_store_answers503AtTheEndOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, key := newTenant(t)
		for name, change := range changesOf(w, key) {
			w.busy, w.tried = -1, 0
			w.handler.Random = func() float64 { return []float64{0.25, 0.5, 0.999}[w.tried%3] }
			began := time.Now()
			a := change()
			if w.expect(name, "503 unavailable", a); a.header.Get("Retry-After") != "1" {
				t.Errorf("%s: again after %q s", name, a.header.Get("Retry-After"))
			}
			if strings.Contains(string(a.body), "does not answer") {
				t.Errorf("%s: a service is blamed: %s", name, a.body)
			}
			took := time.Since(began)
			if took > patience || took < patience-lastTry-longestWait || w.tried > 20 {
				t.Errorf("%s: answered after %s and %d tries", name, took, w.tried)
			}
		}
	})
}

// Whatever crowd meets, a key pays for the reads of its requests.
func TestHandler_store_countsEveryFourthTryAgainstTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, key := newTenant(t)
		id, _ := apikey.ParseID(key)
		for tries, want := range map[int]int{1: 5, 4: 5, 5: 10, 8: 10, 9: 15} {
			w.now = w.now.Add(time.Minute)
			w.busy = tries - 1
			w.expect("a create", "201", w.do(key, "POST", "/v1/webhooks", w.fresh()))
			if got := w.aws.Keys[id].Spent; got != want {
				t.Errorf("%d tries spend %d, want %d", tries, got, want)
			}
		}
		w.handler.Budget = 14
		w.now = w.now.Add(time.Minute)
		w.busy, w.tried = -1, 0
		w.expect("beyond its limit", "429 too_many_requests", w.do(key, "POST", "/v1/webhooks", w.fresh()))
		if w.tried != 8 {
			t.Errorf("%d tries in a budget for two times four", w.tried)
		}
	})
}

// An import is no key's, and ends like any other.
func TestHandler_import_triesAgainWhileOtherEndpointsAreChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		w.busy = 6
		if got := results(w.move(false, leaving("a", oldKey))); got[0] != api.ResultCreated || w.writes > 0 {
			t.Errorf("%v, with %d writes of keys", got, w.writes)
		}
	})
}
