package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/edges/audit"
)

// showTenant shows a tenant with its keys and acts, and the commands for the case that a key is in the wrong hands.
func showTenant(ctx context.Context, c call) error {
	trail := stack.Trail{Stack: c.stack, Client: cloudwatchlogs.NewFromConfig(c.stack.AWS)}
	t, err := stack.ReadTenant(ctx, c.stack, trail, c.fields.TenantID, c.Now())
	if err != nil {
		return err
	}
	traffic, err := readTraffic(ctx, c)
	if err != nil {
		return err
	}
	if c.JSON {
		c.PrintJSON(tenantJSONOf(t, traffic))
	} else {
		c.printTenant(t)
		c.printTraffic(traffic)
	}
	for _, missing := range []error{t.KeysErr, t.ActsErr} {
		if missing != nil {
			c.Say("%s", missing)
		}
	}
	if !c.JSON {
		c.sayPlaybook(t)
	}
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

func (c call) printTenant(t stack.Tenant) {
	c.Show(tenantInWords(t))
	table(c, "Endpoints, those in trouble first", t.Fields.Endpoints.Data, endpointColumns, t.Fields.Endpoints.More)
	table(c, "What its deliveries died of", t.Fields.Causes.Data, causeColumns, t.Fields.Causes.More)
	table(c, "Jobs that are not done", t.Fields.Jobs.Data, jobColumns, t.Fields.Jobs.More)
	table(c, "Keys", t.Keys.Data, keyColumns, t.Keys.NextCursor != nil)
	changes := stack.KeyChanges(t.Acts.Acts)
	table(c, "What its keys changed", changes, changeColumns, t.Acts.More)
	acts := slices.DeleteFunc(slices.Clone(t.Acts.Acts), func(a stack.Act) bool { return a.OperatorClaimed == "" })
	table(c, "What operators did", acts, actColumns, t.Acts.More)
	if t.ActsErr == nil {
		c.Say("acts are read since %s", answers.Moment(t.Acts.From, c.Now()))
	}
}

// table is a table with its title, and nothing where there are no rows.
func table[R any](c call, title string, rows []R, columns []terminal.Column[R], more bool) {
	if len(rows) == 0 {
		return
	}
	c.titled(title)
	terminal.Table(c.Terminal, rows, columns)
	if more {
		c.Say("and there are more")
	}
}

// tenantInWords are the fields of a tenant that are no tables.
func tenantInWords(t stack.Tenant) []answers.Field {
	of, marks := t.Fields, t.Fields.Marks
	words := []answers.Field{{Name: "tenant", Value: of.TenantID}}
	add := func(there bool, name string, value any) {
		if there {
			words = append(words, answers.Field{Name: name, Value: value})
		}
	}
	if t.Bare {
		add(true, "stored", "nothing but its keys, or acts about it")
		return words
	}
	states := answers.Reasons(of.Endpoints.States)
	if of.Endpoints.Deleted > 0 {
		states = strings.TrimPrefix(fmt.Sprintf("%s, %d deleted", states, of.Endpoints.Deleted), ", ")
	}
	add(true, "endpoints", states)
	add(marks.Unreadable, "marks", "they are damaged: nothing is sent to its endpoints")
	add(marks.Paused(), "paused by", marks.PausedBy)
	add(marks.Paused(), "paused since", marks.PausedAt)
	add(marks.PauseReason != "", "pause reason", marks.PauseReason)
	add(marks.RateLimit > 0, "limit of each endpoint", fmt.Sprintf("%d a second, by %s: %s",
		marks.RateLimit, answers.Shown(marks.LimitedBy), answers.Shown(marks.LimitReason)))
	add(marks.EndpointsPerHost > 0, "endpoints at one domain", marks.EndpointsPerHost)
	add(!marks.DiscardedBefore.IsZero(), "discarded are lives before", marks.DiscardedBefore)
	add(!of.SlowUntil.IsZero(), "in the slow lane until", of.SlowUntil)
	add(t.KeysErr == nil, "valid keys", t.GoodKeys())
	return words
}

// sayPlaybook says the next step against a key in the wrong hands: pause, revoke, then pause what a key sent elsewhere.
func (c call) sayPlaybook(t stack.Tenant) {
	herald, id := called(c.line), t.Fields.TenantID
	const reason = " --reason compromised"
	switch ids := t.ToPause(); {
	case t.Bare && t.GoodKeys() == 0:
	case !t.Fields.Marks.Paused() && !t.Bare:
		c.sayNext("if a key is in the wrong hands:", herald+" tenants pause "+argument(id)+reason)
	case t.GoodKeys() > 0:
		c.sayNext("", herald+" keys revoke-all "+argument(id)+reason)
	case len(ids) > 0:
		command := herald + " endpoints pause --tenant=" + quoted(id) + reason + " " + strings.Join(ids, " ")
		c.sayNext("its keys made or moved these, and a pause of an endpoint outlasts that of the tenant:", command)
	case t.Fields.Marks.Paused():
		c.sayNext("once its owner has a new key and new secrets:", herald+" tenants resume "+argument(id))
	}
}

var changeColumns = []terminal.Column[stack.KeyChange]{
	{Head: "key id", Of: func(k stack.KeyChange) any { return k.KeyID }},
	{Head: "did", Of: func(k stack.KeyChange) any { return k.Acts }},
	{Head: "times", Of: func(k stack.KeyChange) any { return k.Count }},
	{Head: "made or moved", Of: func(k stack.KeyChange) any { return yes(k.Elsewhere) }},
	{Head: "last", Of: func(k stack.KeyChange) any { return k.Last }},
	{Head: "endpoint id", Of: func(k stack.KeyChange) any { return k.EndpointID }},
}

var actColumns = []terminal.Column[stack.Act]{
	{Head: "when", Of: func(a stack.Act) any { return a.At }},
	{Head: "act", Of: func(a stack.Act) any { return a.Function + " " + a.Action }},
	{Head: "operator, as claimed", Of: func(a stack.Act) any { return a.OperatorClaimed }},
	{Head: "reason", Of: func(a stack.Act) any { return a.Reason }},
	{Head: "key id", Of: func(a stack.Act) any { return a.KeyID }},
	{Head: "endpoint id", Of: func(a stack.Act) any { return a.EndpointID }},
}

// yes is a word for true, and nothing for false.
func yes(is bool) any {
	if is {
		return "yes"
	}
	return nil
}
