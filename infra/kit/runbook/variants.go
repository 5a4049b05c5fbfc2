package runbook

// Variants are commands that the reference leaves out, since they make requests for actions that it shows, with other
// fields. Tests play them as they play the reference's.
func Variants() []Group {
	return []Group{
		{
			[]string{"endpoints list --state open --limit 20", "endpoints list --tenant acme --host hooks.example.com"},
			asks("inspect", `{"action":"endpoints","operator":"ann@example.com","state":"open","limit":20}`,
				`{"action":"endpoints","operator":"ann@example.com","tenant_id":"acme","host":"hooks.example.com"}`),
		},
		{
			[]string{"dead list --tenant acme --reason timeout --since 2026-01-02T15:04:05Z"},
			asks("inspect", `{"action":"dead_letters","operator":"ann@example.com","tenant_id":"acme","reason":"timeout",`+
				`"since":"2026-01-02T15:04:05Z"}`),
		},
		{
			[]string{`tenants pause acme --reason "ticket 42"`, "tenants resume acme"},
			asks("control", `{"action":"pause","operator":"ann@example.com","tenant_id":"acme","reason":"ticket 42"}`,
				`{"action":"resume","operator":"ann@example.com","tenant_id":"acme"}`),
		},
		{
			[]string{`tenants limit acme --rate 10 --reason "ticket 42"`},
			asks("control", `{"action":"limit","operator":"ann@example.com","tenant_id":"acme","rate_limit":10,`+
				`"reason":"ticket 42"}`),
		},
		{
			[]string{"tenants discard acme --before 2026-01-02T15:04:05Z"},
			asks("control", `{"action":"discard","operator":"ann@example.com","tenant_id":"acme",`+
				`"discarded_before":"2026-01-02T15:04:05Z","confirm":true}`),
		},
		{
			[]string{"dead replay --tenant acme --reason http_5xx", "dead replay --status dead --dry-run"},
			asks("replay", `{"action":"start_job","operator":"ann@example.com","act":"replay","tenant_id":"acme",`+
				`"reason":"http_5xx","token":"2f6c…"}`,
				`{"action":"start_job","operator":"ann@example.com","act":"replay","status":"dead","dry_run":true}`),
		},
		{
			[]string{"keys issue --tenant acme --scope webhooks:read"},
			asks("apikeys", `{"action":"issue","operator":"ann@example.com","tenant_id":"acme","scopes":["webhooks:read"]}`),
		},
	}
}

func asks(function string, requests ...string) []Part {
	return []Part{{Function: function, Requests: requests}}
}
