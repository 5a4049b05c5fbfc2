package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func TestEndpoints_areActedOnAfterARefusal(t *testing.T) {
	no := func(code api.Code) string { return refused(api.Refusal{Code: code, Message: "no", Field: "reason"}) }
	const paused, line = api.CodeAlreadyPaused, "-y endpoints pause a/x a/y a/z"
	done := written(api.ControlAnswer{})
	for name, c := range map[string]struct {
		line     string
		answers  []string
		code     int
		says     []string
		requests int
	}{
		"one of three": {line, []string{done, no(paused), done}, exit.Unhealthy, []string{"refused: a/y ()"}, 6},
		"all":          {line, slices.Repeat([]string{no(paused)}, 3), exit.Failed, []string{"a/x", "a/z"}, 6},
		"the only one": {"-y endpoints pause a/x", []string{no(paused)}, exit.Failed,
			[]string{"a/x (): reason: no"}, 2},
		"a flag's text": {line, slices.Repeat([]string{no(api.CodeInvalidField)}, 3), exit.Usage, []string{"a/x"}, 6},
		"a fault": {line, []string{no(paused), ""}, exit.Failed,
			[]string{"refused: a/x", "herald: a/y (): invoking control", "not begun: a/z"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			for _, endpoint := range []string{"x", "y", "z"}[:strings.Count(c.line, "a/")] {
				f.later = append(f.later, written(api.Endpoint{TenantID: "a", Description: endpoint}))
			}
			f.later = append(f.later, c.answers...)
			if f.ends(t, c.code, c.line, c.says...); len(f.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(f.requests), c.requests)
			}
		})
	}
}

// Of the endpoints at a site, those that the same command pauses do not go on. The last answer knows.
func TestEndpoints_pause_saysWhichGoOnAfterAll(t *testing.T) {
	shown := func(name, url string) string {
		return written(api.Endpoint{TenantID: "a", EndpointID: name, URL: url})
	}
	f := &fake{later: []string{
		shown("x", "https://x.example.com"), shown("y", "https://y.example.com"), shown("z", "https://example.org"),
		written(api.ControlAnswer{Note: "1 more goes on"}), written(api.ControlAnswer{}),
		written(api.ControlAnswer{Note: "2 more go on"}),
	}}
	_, out, words := f.play(t, "", strings.Fields("-y endpoints pause a/x a/y a/z")...)
	contains(t, words, "note: 2 more go on\nnext: herald endpoints list --tenant=a\n")
	if strings.Contains(out+words, "1 more") {
		t.Errorf("tells of an endpoint that is paused: %s", out+words)
	}
}

// A dry run is refused as the act is.
func TestTenants_dryRun_refusesATenantWithoutEndpoints(t *testing.T) {
	f := fakeOf(to(api.ListEndpoints, listOf[api.ListedEndpoint]()))
	f.ends(t, exit.Failed, "--dry-run tenants pause acmee", "no endpoint belongs to the tenant acmee")
	f.say(to(api.ListEndpoints, listOf(api.ListedEndpoint{})))
	f.ends(t, exit.Done, "--dry-run tenants pause acme", "would pause: all endpoints of acme")
}

// A limit is asked about with its number, and both of its flags are required.
func TestEndpoints_limit_asksWithTheNumber(t *testing.T) {
	shown := api.Endpoint{TenantID: "a", EndpointID: "webhook_1", Description: "x"}
	for line, question := range map[string]string{
		"endpoints limit a/x --rate 10 --reason quota": "Limit the deliveries a second for a/x () to 10?",
		"endpoints unlimit a/x":                        "Remove the operators' limit of a/x ()?",
		"tenants allow a --per-host 30 --reason quota": "Set the allowance at one domain for all endpoints of a to 30?",
		"tenants allow a --per-host 0 --reason quota":  "at one domain for all endpoints of a to what the stack allows?",
	} {
		f := fakeOf(to(api.GetEndpoint, shown))
		_, out, words := f.play(t, "n\n", strings.Fields(line)...)
		contains(t, out+words, question)
		if slices.ContainsFunc(f.requests, func(r sent) bool { return r["action"] != api.GetEndpoint.Name }) {
			t.Errorf("herald %s, denied, asked %v", line, f.requests)
		}
	}
	for line, says := range map[string]string{
		"-y endpoints limit a/x --reason quota":            "--rate is required",
		"-y endpoints limit a/x --rate 10":                 "--reason is required",
		"-y endpoints limit a/x --rate 0 --reason quota":   "--rate: must be 1 to 300",
		"-y endpoints limit a/x --rate 301 --reason quota": "--rate: must be 1 to 300",
	} {
		(&fake{}).ends(t, exit.Usage, line, says)
	}
}

// A resume ends no slow lane: an operator who looks for deliveries that are late is told why.
func TestTenants_resume_saysHowLongTheSlowLaneLasts(t *testing.T) {
	const slow = "its deliveries go through the slow lane until"
	for name, c := range map[string]struct {
		tenant answered
		line   string
		says   bool
	}{
		"slow":              {to(api.GetTenant, api.Tenant{SlowUntil: now}), "tenants resume acme", true},
		"not slow":          {to(api.GetTenant, api.Tenant{}), "tenants resume acme", false},
		"nothing is stored": {refusing(api.GetTenant, api.Refusal{Code: api.CodeNotFound}), "tenants resume acme", false},
		"a pause":           {to(api.GetTenant, api.Tenant{SlowUntil: now}), "tenants pause acme", false},
	} {
		f := fakeOf(c.tenant, to(api.Resume, api.ControlAnswer{}), to(api.Pause, api.ControlAnswer{}))
		code, _, words := f.play(t, "", strings.Fields("-y "+c.line)...)
		if strings.Contains(words, "acme: "+slow+" 2026-05-02 09:00 UTC") != c.says || code != exit.Done ||
			strings.Contains(words, "slow") != c.says {
			t.Errorf("%s: code %d, %s", name, code, words)
		}
	}
	f := fakeOf(to(api.Resume, api.ControlAnswer{}), answered{"inspect tenant", "<html>"})
	f.ends(t, exit.Done, "-y tenants resume acme", "is not known")
}
