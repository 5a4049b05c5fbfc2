package webhooks

import (
	"fmt"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

func TestHandler_rotate_refusesEveryOtherBody(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID + "/rotate-secret"
	const hours = `422 validation_failed "/previous_secret_hours"`
	for body, want := range map[string]string{
		`{"previous_secret_hours":25}`:    hours,
		`{"previous_secret_hours":-1}`:    hours,
		`{"previous_secret_hours":"24"}`:  hours,
		`{"previous_secret_hours":1.5}`:   hours,
		`{"previous_secret_hours":1e99}`:  hours,
		`{"previous_secret_hours":null}`:  hours,
		`{"previous_secret_hours":true}`:  hours,
		`{"previous_secret_hours":[1]}`:   hours,
		`{"previous_secret_hours":99999}`: hours,
		`{"hours":1}`:                     `400 invalid_body "/hours"`,
		`[]`:                              `400 invalid_body ""`,
		`x`:                               `400 invalid_json ""`,
		`{}{}`:                            `400 invalid_json ""`,
	} {
		w.expect(body, want, w.do(key, "POST", path, body))
	}
	for _, integer := range []string{"0", "-0", "24", "2.0", "1e1", "0.024e3"} {
		w.expect(integer, "200", w.do(key, "POST", path, `{"previous_secret_hours":`+integer+`}`))
	}
	w.handler.Companions = delivery.CompanionsNone
	w.expect("without webhook-signature", hours,
		w.do(key, "POST", path, `{"previous_secret_hours":1}`))
	w.expect("0 without webhook-signature", "200", w.do(key, "POST", path, `{"previous_secret_hours":0}`))
}

// The previous secret signs for as long as the owner asked, and no longer. The next rotation, a deletion and the end of
// that time each forget it. A restore does not bring it back.
//
// Threat of a receiver: keeps a leaked secret signing. Held by: an overlap is the owner's choice, 24 hours at most.
func TestHandler_rotate_keepsTheSecretBeforeForAWhile(t *testing.T) {
	type step struct{ method, path, body string }
	rotate := func(hours int) step {
		return step{"POST", "/rotate-secret", fmt.Sprintf(`{"previous_secret_hours":%d}`, hours)}
	}
	remove, restore := step{"DELETE", "", ""}, step{"POST", "/restore", ""}
	patch := step{"PATCH", "", `{"description":"x"}`}
	for name, test := range map[string]struct {
		steps []step
		later time.Duration // after the last step
		until time.Duration // after the last rotation; 0: there is no secret before
	}{
		"as specified":                    {steps: []step{{"POST", "/rotate-secret", ""}}},
		"no hours":                        {steps: []step{rotate(0)}},
		"a day":                           {steps: []step{rotate(24)}, until: 24 * time.Hour},
		"an hour, nearly over":            {steps: []step{rotate(1)}, later: time.Hour - time.Minute, until: time.Hour},
		"an hour, over":                   {steps: []step{rotate(1)}, later: time.Hour},
		"another change":                  {steps: []step{rotate(2), patch}, until: 2 * time.Hour},
		"rotated again":                   {steps: []step{rotate(24), rotate(3)}, until: 3 * time.Hour},
		"rotated again, after a leak":     {steps: []step{rotate(24), rotate(0)}},
		"deleted":                         {steps: []step{rotate(24), remove}},
		"deleted and restored":            {steps: []step{rotate(24), remove, restore}},
		"rotated when deleted":            {steps: []step{remove, rotate(24)}},
		"rotated when deleted, and after": {steps: []step{remove, rotate(24), restore, rotate(1)}, until: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := newTenant(t)
			e := w.create(key)
			at := dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID}
			var before []byte
			for _, s := range test.steps {
				before = w.aws.Endpoints[at.EndpointID].SealedSecret
				if a := w.do(key, s.method, "/v1/webhooks/"+e.ID+s.path, s.body); a.status >= 300 {
					t.Fatalf("%v: %s", s, a.brief())
				}
			}
			rotated := w.aws.Endpoints[at.EndpointID].SecretRotatedAt
			w.now = w.now.Add(test.later)
			var shown management.Endpoint
			w.do(key, "GET", "/v1/webhooks/"+e.ID, "").decode(t, &shown)
			var want *string
			if test.until > 0 {
				want = when(rotated.Add(test.until))
			}
			if fmt.Sprint(deref(want)) != fmt.Sprint(deref(shown.PreviousUntil)) {
				t.Errorf("shown until %v, want %v", deref(shown.PreviousUntil), deref(want))
			}
			stored := w.aws.Endpoints[at.EndpointID]
			if overlaps := stored.Overlaps(w.now); overlaps != (want != nil) {
				t.Errorf("the secret before signs: %v", overlaps)
			}
			if want != nil && len(test.steps) == 1 && string(stored.SealedPrevious) != string(before) {
				t.Errorf("the secret before is %q, want %q", stored.SealedPrevious, before)
			}
			if id := keyring.PreviousOf(stored); id.Version != stored.SecretVersion-1 {
				t.Errorf("it is of version %d", id.Version)
			}
		})
	}
}

func deref(s *string) string {
	if s == nil {
		return "never"
	}
	return *s
}

// The next write leaves a secret out that no longer signs, and says nothing about it: no request changed it.
func TestHandler_change_forgetsASecretThatNoLongerSigns(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	w.do(key, "POST", path+"/rotate-secret", `{"previous_secret_hours":1}`)
	w.now = w.now.Add(time.Hour)
	w.audited.Reset()
	w.expect("changed", "200", w.do(key, "PATCH", path, `{"description":"x"}`))
	stored := w.aws.Endpoints[e.ID]
	if stored.SealedPrevious != nil || !stored.PreviousUntil.IsZero() {
		t.Errorf("stored: %q until %s", stored.SealedPrevious, stored.PreviousUntil)
	}
	if lines := w.auditLines(); len(lines) != 1 || fmt.Sprint(lines[0]["changed"]) != "[description]" {
		t.Errorf("audited: %v", lines)
	}
}
