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

// A tenant of an adopter's may have the name.
//
// Threat of the account: has `herald verify` empty another's tenant. Held by: what no run made is left alone.
func TestClearAway_touchesNothingOfATenantThatIsNotItsOwn(t *testing.T) {
	const none, endpoint, key = `{"data":[]}`, `{"data":[{"endpoint_id":"webhook_1","description":"`, `"description":"`
	made := map[string]string{Tenant: "made by " + Tenant, Noisy: "made by " + Noisy}
	for name, row := range map[string]struct {
		endpoints, keys string // of the tenant
		want            string // the fault
	}{
		"nothing":             {none, none, ""},
		"a run's remains":     {endpoint + made[Tenant] + `"}]}`, `{"data":[{"key_id":"01",` + key + `herald verify"}]}`, ""},
		"another's endpoint":  {endpoint + `crm"}]}`, none, "the endpoint webhook_1"},
		"one that is unnamed": {endpoint + `"}]}`, none, "the endpoint webhook_1"},
		"one beside a run's": {
			endpoint + made[Tenant] + `"},{"endpoint_id":"webhook_2","description":"crm"}]}`, none, "the endpoint webhook_2",
		},
		"another's key":     {none, `{"data":[{"key_id":"02",` + key + `production"}]}`, "the key 02"},
		"its revoked key":   {none, `{"data":[{"key_id":"02",` + key + `x","revoked_at":"2026-01-02T15:04:05Z"}]}`, ""},
		"an unreadable one": {`{"data":[{"endpoint_id":"webhook_1","state":"unreadable"}]}`, none, "the endpoint webhook_1"},
	} {
		for _, tenant := range []string{Tenant, Noisy} {
			var asked []string
			r := operating(t, func(request string) string {
				asked = append(asked, request)
				switch of := strings.Contains(request, `"`+tenant+`"`); {
				case of && strings.Contains(request, `"endpoints"`):
					return strings.ReplaceAll(row.endpoints, made[Tenant], made[tenant])
				case of && strings.Contains(request, `"action":"list"`):
					return row.keys
				}
				return none
			})
			err := r.own(context.Background())
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), tenant+" has "+row.want) {
				t.Errorf("%s of %s: %v, want %q", name, tenant, err, row.want)
			}
			if _, cleared := clearAway(context.Background(), r); row.want != "" && cleared == nil {
				t.Errorf("%s of %s: cleared", name, tenant)
			}
			for _, request := range asked {
				if row.want != "" && !strings.Contains(request, `"endpoints"`) && !strings.Contains(request, `"list"`) {
					t.Errorf("%s of %s: asked %s", name, tenant, request)
				}
			}
		}
	}
}
