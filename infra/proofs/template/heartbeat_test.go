package template

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// withHeartbeat are settings under which the stack has a heartbeat.
func withHeartbeat(t *testing.T, tpl template) settings {
	t.Helper()
	s := maps.Clone(configurations(t, tpl)["default"])
	s["HeartbeatTenant"] = "heartbeat"
	return s
}

// A dead stack says nothing at all, so the alarm needs no other metric to go off.
func TestHeartbeatAlarm_tellsAQuietStackFromADeadOne(t *testing.T) {
	tpl := load(t)
	all := alarmsOf(t, tpl, withHeartbeat(t, tpl))
	heartbeat := map[string]alarms.Alarm{"HeartbeatAlarm": all["HeartbeatAlarm"]}
	acknowledged := alarms.NewMetric("Herald/default", "HeartbeatsAcknowledged", map[string]string{"service": "deliver"})
	for name, row := range map[string]struct {
		from, until int // minutes in which heartbeats are acknowledged
		want        []string
	}{
		"every heartbeat is acknowledged": {-60, 60, nil},
		"none was ever":                   {0, 0, []string{"HeartbeatAlarm"}},
		"none since ten minutes":          {-60, 20, nil},
		"none since half an hour":         {-60, 0, []string{"HeartbeatAlarm"}},
	} {
		var data alarms.Data
		for minute := row.from; minute < row.until; minute += 5 {
			at := created.Add(time.Duration(minute)*time.Minute + time.Duration(20+minute%7)*time.Second)
			data.Put(acknowledged, at, 1)
		}
		if diff := cmp.Diff(row.want, raisedBy(t, heartbeat, &data)); diff != "" {
			t.Errorf("%s: alarms (-want +got):\n%s", name, diff)
		}
	}
	if _, has := alarmsOf(t, tpl, configurations(t, tpl)["default"])["HeartbeatAlarm"]; has {
		t.Error("without a heartbeat, its alarm would never end")
	}
}

// A heartbeat that is rejected, or fails its schema where that is checked, would be an alarm every five minutes.
func TestTheHeartbeatIsAnEventOfTheCatalogue(t *testing.T) {
	tpl := load(t)
	input := at(tpl.Resources["HeartbeatSchedule"].Properties, "Target")["Input"]
	text, err := resolve(tpl, withHeartbeat(t, tpl))(input)
	if err != nil {
		t.Fatal(err)
	}
	e, err := event.Decode([]byte(text), "message")
	if err != nil || e.TenantID != "heartbeat" {
		t.Fatalf("%s: %+v, %v", text, e, err)
	}
	types := catalogue.Types()
	n := slices.IndexFunc(types, func(one catalogue.Type) bool { return one.Name == e.Type })
	if n < 0 {
		t.Fatalf("%s is not of the catalogue", e.Type)
	}
	compiled, err := schema.Compile(types[n].Schema)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compiled.Check(e.Data, math.MaxInt); err != nil {
		t.Errorf("%s: %v", e.Data, err)
	}
}

// The parameter takes a tenant's id, or nothing for no heartbeat. Heartbeats of anything else would all be rejected.
func TestHeartbeatTenant_isATenant(t *testing.T) {
	tpl := load(t)
	pattern := regexp.MustCompile("^(?:" + fmt.Sprint(tpl.Parameters["HeartbeatTenant"]["AllowedPattern"]) + ")$")
	input := at(tpl.Resources["HeartbeatSchedule"].Properties, "Target")["Input"]
	given := withHeartbeat(t, tpl)
	takes := func(t rapid.TB, tenant string) {
		t.Helper()
		if !pattern.MatchString(tenant) {
			t.Errorf("%q is refused", tenant)
		}
		given["HeartbeatTenant"] = tenant
		text, err := resolve(tpl, given)(input)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := event.Decode([]byte(text), "message"); err != nil || e.TenantID != tenant {
			t.Errorf("%s: of %q, %v", text, e.TenantID, err)
		}
	}
	for _, tenant := range names.Tenants() {
		takes(t, tenant)
	}
	rapid.Check(t, func(t *rapid.T) { takes(t, names.Any().Draw(t, "tenant")) })
	for _, text := range names.Refused() {
		if pattern.MatchString(text) != (text == "") {
			t.Errorf("%q is taken: %v", text, text != "")
		}
	}
}
