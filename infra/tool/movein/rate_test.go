package movein

import (
	"strings"
	"testing"
)

// A limit carries over unchanged if it is a whole number that Herald allows. Otherwise the nearest allowed number is
// taken, and reported.
func TestEndpoints_carriesLimitsOver(t *testing.T) {
	const notice = " a second here: a whole number from 1 to 300"
	for _, c := range []struct {
		from               Source
		fields, want, note string
	}{
		{Svix, `"throttleRate":10`, `"rate_limit":10,`, ""},
		{Svix, `"rateLimit":10`, `"rate_limit":10,`, ""},
		{Svix, `"throttleRate":5,"rateLimit":10`, `"rate_limit":5,`, ""},
		{Svix, `"throttleRate":null,"rateLimit":10`, `"rate_limit":10,`, ""},
		{Svix, `"throttleRate":300`, `"rate_limit":300,`, ""},
		{Svix, `"throttleRate":65535`, `"rate_limit":300,`, "throttleRate: 65535 in 1s is 300" + notice},
		{Svix, `"throttleRate":1e9`, `"rate_limit":300,`, "throttleRate: 1e+09 in 1s is 300" + notice},
		{Svix, `"throttleRate":1e999`, ``, "throttleRate: is no number of deliveries"},
		{Svix, `"throttleRate":-1`, ``, "throttleRate: is no number of deliveries"},
		{Svix, `"throttleRate":"hush"`, ``, "throttleRate: is no number of deliveries"},
		{Svix, `"throttleRate":0`, ``, ""},
		{Convoy, `"rate_limit":1200,"rate_limit_duration":60`, `"rate_limit":20,`, ""},
		{Convoy, `"rate_limit":50,"rate_limit_duration":1`, `"rate_limit":50,`, ""},
		{Convoy, `"rate_limit":3000,"rate_limit_duration":"1m0s"`, `"rate_limit":50,`, ""},
		{Convoy, `"rate_limit":5000,"rate_limit_duration":60`, `"rate_limit":83,`, "rate_limit: 5000 in 1m0s is 83" + notice},
		{Convoy, `"rate_limit":10,"rate_limit_duration":60`, `"rate_limit":1,`, "rate_limit: 10 in 1m0s is 1" + notice},
		{Convoy, `"rate_limit":600`, `"rate_limit":10,`, ""},
		{Convoy, `"rate_limit":600,"rate_limit_duration":0`, `"rate_limit":10,`, ""},
		{Convoy, `"rate_limit":600,"rate_limit_duration":"hush"`, `"rate_limit":10,`, ""},
		{Convoy, `"rate_limit":600,"rate_limit_duration":{}`, `"rate_limit":10,`, ""},
		{Convoy, `"rate_limit":600,"rate_limit_duration":1e300`, `"rate_limit":1,`,
			"rate_limit: 600 in 720h0m0s is 1" + notice},
		{Convoy, `"rate_limit":0,"rate_limit_duration":60`, ``, ""},
		{Standard, `"rate_limit":10`, `"rate_limit":10,`, ""},
		{Standard, `"rateLimit":10,"rate_limit_duration":"10s"`, `"rate_limit":1,`, ""},
	} {
		r := rules(c.from)
		r.Tenant = "acme"
		file := `{"url":"https://a.example.com","event_types":["*"],` + secret + `,` + c.fields + `}`
		if c.from == Svix {
			file = strings.Replace(file, `"event_types"`, `"eventTypes"`, 1)
		}
		lines, report := convert(t, file, r)
		want := `"events":["*"],` + c.want + `"secret"`
		if notes := told(report); report.Taken != 1 || !strings.Contains(lines[0], want) ||
			c.note == "" && notes != "" || !strings.Contains(notes, c.note) || strings.Contains(notes, "hush") {
			t.Errorf("%s %s: %q, want %s and %q:\n%s", c.from, c.fields, lines, want, c.note, notes)
		}
	}
}
