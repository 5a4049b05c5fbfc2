package movein

import (
	"fmt"
	"strings"
	"testing"
)

// of is a complete endpoint of a sender with some fields more.
func of(from Source, fields string) string {
	switch from {
	case Outpost:
		return `{"tenant_id":"acme","config":{"url":"https://a.example.com"},"topics":"*",` + secret + `,` + fields + `}`
	case Convoy:
		return `{"tenant_id":"acme","url":"https://a.example.com","event_types":["*"],` + secret + `,` + fields + `}`
	}
	return `{"tenant_id":"acme","url":"https://a.example.com",` + secret + `,` + fields + `}`
}

// become converts an endpoint with some fields, and returns whether it is active, and the notes.
func become(t *testing.T, from Source, fields string) (active bool, notes string) {
	t.Helper()
	lines, report, err := Endpoints([]byte(of(from, fields)), rules(from))
	if err != nil || report.Taken != 1 {
		t.Fatalf("%s %s: left out: %v\n%s", from, fields, err, told(report))
	}
	return !strings.Contains(string(lines), `"status":"disabled"`), told(report)
}

// An endpoint that gets nothing at its sender gets nothing here, whatever words the sender has for it.
func TestEndpoints_activatesNoneThatIsNotCertainlyOn(t *testing.T) {
	const listed = " does not say for certain"
	var rows []string
	for _, positive := range []string{
		"active", "Active", "ACTIVE", "enabled", "is_active", "isActive", "is-enabled", "isenabled", "currently_active",
		"webhook_enabled", "status", "state", "activeState", "delivery_enabled",
	} {
		for _, v := range []string{`false`, `0`, `"false"`, `"False"`, `"0"`, `"no"`, `" OFF "`, `"inactive"`, `"paused"`} {
			rows = append(rows, fmt.Sprintf("%q:%s", positive, v))
		}
		for _, v := range []string{`"suspended"`, `""`, `"?"`, `2`, `-1`, `[]`, `{}`, `[true]`, `1e999`} {
			rows = append(rows, fmt.Sprintf("%q:%s;%s:%s", positive, v, positive, listed))
		}
	}
	for _, negative := range []string{
		"disabled", "isDisabled", "is_paused", "suspended", "deleted", "archived", "webhook_disabled",
	} {
		for _, v := range []string{`true`, `1`, `1.0`, `"true"`, `"1"`, `"YES"`, `"on"`} {
			rows = append(rows, fmt.Sprintf("%q:%s", negative, v))
		}
		for _, v := range []string{`"2026-01-01T00:00:00Z"`, `""`, `2`, `[]`, `{"by":"ann"}`} {
			rows = append(rows, fmt.Sprintf("%q:%s;%s:%s", negative, v, negative, listed))
		}
		rows = append(rows, fmt.Sprintf(`"%s_at":"2026-01-01T00:00:00Z"`, negative))
		rows = append(rows, fmt.Sprintf(`"%sAt":1767366245`, negative))
	}
	rows = append(rows,
		`"active":null;active:`+listed, `"enabled_at":null;enabled_at:`+listed, `"verified":false;verified:`+listed,
		`"deliver_active_to_eu":false;deliver_active_to_eu:`+listed, `"auto_disable":true;auto_disable:`+listed,
		`"paused_until":"2027-01-01";paused_until:`+listed, `"disabled_reason":"failures";disabled_reason:`+listed,
		`"settings":{"delivery":{"enabled":false}};settings.delivery.enabled:`+listed,
		`"enabled":true,"disabled":true`, `"status":"active","enabled":false`, `"active":true,"deleted_at":"2026-01-01"`,
		`"enabled_disabled":true;enabled_disabled:`+listed,
	)
	for from := range readers {
		for _, row := range rows {
			fields, want, _ := strings.Cut(row, ";")
			active, notes := become(t, from, fields)
			if active || !strings.Contains(notes, want) || want == "" && strings.Contains(notes, listed) {
				t.Errorf("%s %s: active is %t, want notes with %q:\n%s", from, fields, active, want, notes)
			}
		}
	}
	active, notes := become(t, Outpost, `"credentials":{"active":false}`)
	if active || notes != "" {
		t.Errorf("credentials that are off: active is %t:\n%s", active, notes)
	}
}

func TestEndpoints_keepsThoseActiveThatAreOn(t *testing.T) {
	for from := range readers {
		for _, fields := range []string{
			`"active":true`, `"enabled":1`, `"enabled":"True"`, `"is_active":"yes"`, `"status":"ACTIVE"`, `"status":null`,
			`"state":"enabled"`, `"disabled":false`, `"disabled":0`, `"disabled":"false"`, `"disabled":null`,
			`"disabled_at":null`, `"deleted_at":""`, `"paused":"no"`, `"active":true,"disabled":false`, `"verified":true`,
			`"last_status":500`, `"lastActiveAt":"2026-01-01"`, `"previous_state":"off"`, `"settings":{"active":true}`,
			`"metadata":{"active":false}`,
		} {
			if active, notes := become(t, from, fields); !active || strings.Contains(notes, "for certain") {
				t.Errorf("%s %s: active is %t:\n%s", from, fields, active, notes)
			}
		}
	}
}

// A field such as ssl_verification says something only where it is false.
func TestEndpoints_reportsUnknownFieldsThatAreFalse(t *testing.T) {
	for from := range readers {
		for fields, want := range map[string]string{
			`"ssl_verification":false`: "ssl_verification: is not known here", `"shiny":0`: "shiny: is not known here",
			`"shiny":null,"new":"","more":[],"other":{}`: "",
		} {
			_, notes := become(t, from, fields)
			if !strings.Contains(notes, want) || want == "" && strings.Contains(notes, "known") {
				t.Errorf("%s %s: want %q:\n%s", from, fields, want, notes)
			}
		}
	}
}

// A subscription of Convoy's that is off asks for nothing.
func TestEndpoints_takesNoTypesOfASubscriptionThatIsOff(t *testing.T) {
	subscription := func(types, more string) string {
		return `{"uid":"s","endpoint_metadata":{"uid":"e","owner_id":"acme","url":"https://a.example.com",` + secret +
			`},"filter_config":{"event_types":` + types + `}` + more + `}`
	}
	for _, more := range []string{
		`,"status":"inactive"`, `,"status":"gone"`, `,"active":false`, `,"deleted_at":"2026-01-01"`,
	} {
		one := subscription(`["user.created"]`, more)
		lines, report := convert(t, one+subscription(`["user.deleted"]`, `,"status":"active"`), rules(Convoy))
		if !strings.Contains(lines[0], `"events":["user.deleted"]`) || strings.Contains(lines[0], "disabled") {
			t.Errorf("%s: %s\n%s", more, lines, told(report))
		}
		if _, report := convert(t, one, rules(Convoy)); report.Taken != 0 {
			t.Errorf("%s: an endpoint without a subscription is converted\n%s", more, told(report))
		}
	}
}
