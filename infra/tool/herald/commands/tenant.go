package commands

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/edges/audit"
)

// showTenant shows a tenant with its keys and acts, and the commands for the case that a key is in the wrong hands.
func showTenant(ctx context.Context, c call) error {
	trail := stack.Trail{Stack: c.stack, Client: cloudwatchlogs.NewFromConfig(c.stack.AWS)}
	t, err := stack.ReadTenant(ctx, c.stack, trail, c.fields.TenantID, c.Now())
	if err != nil {
		return err
	}
	if since := c.fields.Since; !since.IsZero() {
		t.Since = since
	}
	traffic, err := readTraffic(ctx, c)
	if err != nil {
		return err
	}
	if c.JSON {
		c.PrintJSON(tenantJSONOf(t, traffic))
		for _, missing := range []error{t.KeysErr, t.ActsErr} {
			if missing != nil {
				c.Say("%s", missing)
			}
		}
		return nil
	}
	page := c.site().TenantPage(t)
	page.Lists = append(page.Lists, c.site().TenantActs(t)...)
	if traffic != nil {
		page.Lists = append(page.Lists, c.site().TenantTraffic(*traffic, nil))
	}
	c.showPage(page)
	c.sayPlaybook(t)
	return nil
}

// tenantJSON is a tenant as programs read it. What could not be read is null.
type tenantJSON struct {
	Tenant  jsontext.Value `json:"tenant"`
	Keys    jsontext.Value `json:"keys"`
	Acts    *actsJSON      `json:"acts"`
	Traffic *trafficJSON   `json:"traffic"`
}

// actsJSON are audit lines since a time, the oldest first.
type actsJSON struct {
	Since time.Time `json:"since"`
	Data  []actJSON `json:"data"`
	More  bool      `json:"more"` // later lines are missing
}

type actJSON struct {
	At         time.Time `json:"at"`
	audit.Line `json:",embed"`
}

func tenantJSONOf(t stack.Tenant, traffic *stack.TenantTraffic) (shown tenantJSON) {
	shown = tenantJSON{Tenant: t.JSON, Keys: t.Keys.JSON, Traffic: trafficJSONOf(traffic)}
	if t.Bare {
		shown.Tenant = nil
	}
	if t.ActsErr != nil {
		return shown
	}
	shown.Acts = &actsJSON{Since: t.Acts.From.UTC(), Data: []actJSON{}, More: t.Acts.More}
	for _, a := range t.Acts.Acts {
		shown.Acts.Data = append(shown.Acts.Data, actJSON{a.At, a.Line})
	}
	return shown
}

// sayPlaybook says the next step against a key in the wrong hands: pause, revoke, then pause what a key sent elsewhere.
func (c call) sayPlaybook(t stack.Tenant) {
	id := t.Fields.TenantID
	const reason = " --reason compromised"
	pausable := !t.Bare && !t.Fields.Marks.Unreadable // otherwise nothing is sent to it, and a pause is refused
	switch ids := t.ToPause(); {
	case !pausable && t.GoodKeys() == 0:
	case pausable && !t.Fields.Marks.Paused():
		c.sayNext("if a key is in the wrong hands:", "tenants pause "+argument(id)+reason)
	case t.GoodKeys() > 0:
		c.sayNext("", "keys revoke-all "+argument(id)+reason)
	case len(ids) > 0:
		command := "endpoints pause" + flagged("tenant", id) + reason
		for _, id := range ids { // of the audit log, to which others may write
			command += " " + quoted(id)
		}
		c.sayNext("its keys made or moved these, and a pause of an endpoint outlasts that of the tenant:", command)
	case t.Fields.Marks.Paused() && t.Incomplete():
		c.Say("which of its keys can be used, or all that they changed, is not known: do not resume it yet")
	case t.Fields.Marks.Paused():
		c.sayNext("once its owner has a new key and new secrets:", "tenants resume "+argument(id))
	}
}
