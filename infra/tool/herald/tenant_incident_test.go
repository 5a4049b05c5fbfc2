//go:build emulator && incident

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// The playbook for a key in the wrong hands may take a minute, and so many commands or clicks.
const (
	playbookTime  = time.Minute
	playbookSteps = 6
)

// A tenant with 50 endpoints and 5,000 dead letters, of which a thief has a key: nothing more is sent to what the thief
// made or moved, by commands alone and by the page alone. The tenant's id is all that is typed, and a number.
func TestACompromisedTenant(t *testing.T) {
	i := startStack(t)
	ids := i.manyEndpoints(t, 46) // and four that are made with stolen keys
	i.manyLetters(t, ids, 5000)

	foreign := i.steals(t, "by-command", ids[0])
	began := time.Now()
	says(t, "tenants pause acme --reason compromised")
	says(t, "keys revoke-all acme --reason compromised")
	said := says(t, "tenants show acme")
	_, next, _ := strings.Cut(said, "next: herald --local ")
	says(t, strings.TrimSpace(strings.Split(next, "\n")[0]))
	i.isSafe(t, "commands", began, 4, foreign)

	ends(t, exit.Done, "tenants resume acme")
	foreign = i.steals(t, "by-page", ids[1])
	b := openBrowser(t, axeCore(t), "")
	b.console(t, stack.Connect)
	b.visit(t, "/", "What to do")
	o := clicker{t, b}
	began = time.Now()
	b.do(t, chromedp.SendKeys(chromedp.CSS("#find"), "acme"+kb.Enter),
		chromedp.WaitVisible(chromedp.CSS(`main a[href*="/tenant?tenant_id=acme"]`)))
	o.click(`main p a[href*="/tenant?tenant_id=acme"]`, `a[href*="act=compromised"]`)
	b.isTextAndAccessible(t)
	o.click(`a[href*="act=compromised"]`, `input[name=typed]`)
	o.types(`input[name=typed]`, script[string](t, b, `document.querySelector("input[name=count]").value`))
	o.click(`form[action$="/start"] button`, `form[action$="/tenant/pause_moved"] button`)
	b.isTextAndAccessible(t)
	o.click(`form[action$="/tenant/pause_moved"] button`, `[role=status]`)
	b.says(t, "were paused")
	i.isSafe(t, "the page", began, b.clicks+1, foreign) // and the Enter of the search
}

// says runs a command and returns all that it says.
func says(t *testing.T, line string) string {
	t.Helper()
	var out bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now}
	args := append([]string{"herald", "--local", "--yes"}, strings.Fields(line)...)
	if code := commands.Run(t.Context(), args, on, stack.Connect); code != exit.Done {
		t.Fatalf("herald %s: exit code %d: %s", line, code, &out)
	}
	t.Logf("herald %s", line)
	return out.String()
}

// manyEndpoints gives acme endpoints at as many domains.
func (i incident) manyEndpoints(t *testing.T, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for at := range ids {
		i.renewed(t, at)
		inbox := i.server.Inbox(fmt.Sprint("/", at))
		url := receiver.Named(inbox.URL, "crm", fmt.Sprint("shop", at))
		e, err := i.tenant.CreateEndpoint(t.Context(), url, "user.created")
		if err != nil {
			t.Fatal(err)
		}
		ids[at] = e.ID
	}
	return ids
}

// renewed gives the tenant a key with a budget for some more requests.
func (i *incident) renewed(t *testing.T, n int) {
	t.Helper()
	if n%10 == 0 {
		key, err := client.New(i.State).IssueKey(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		i.tenant = i.tenant.As("acme", key)
	}
}

func (i incident) manyLetters(t *testing.T, endpoints []string, n int) {
	t.Helper()
	found, err := stack.Connect(t.Context(), stack.Where{Local: true})
	if err != nil {
		t.Fatal(err)
	}
	letters := dynamo.NewDeadLetters(dynamodb.NewFromConfig(found.AWS), i.Tables["DeadLetters"])
	now := time.Now()
	for _, err := range parallel.Each(n, 16, func(at int) error {
		_, err := letters.Create(t.Context(), deadletter.Record{
			Ref: delivery.Ref{
				DeliveryID: fmt.Sprintf("msg_%032d", at), TenantID: "acme", EndpointID: endpoints[at%len(endpoints)],
				EventID: fmt.Sprint("evt_", at), CreatedAt: now,
			},
			EventType: "user.created", Reason: delivery.ReasonHTTP5xx, Attempts: 10, DiedAt: now,
			Sealed: deadletter.Sealed{Body: make([]byte, 200)},
		})
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// steals has a thief make two endpoints and move one, with a key of acme.
func (i incident) steals(t *testing.T, name, moved string) (foreign []string) {
	t.Helper()
	i.renewed(t, 0)
	for n := range 2 {
		at := receiver.Named(i.server.Inbox(fmt.Sprint("/", name, n)).URL, fmt.Sprint("thief", n), name)
		e, err := i.tenant.CreateEndpoint(t.Context(), at, "*")
		if err != nil {
			t.Fatal(err)
		}
		foreign = append(foreign, e.ID)
	}
	to := map[string]string{"url": receiver.Named(i.server.Inbox("/moved-"+name).URL, "moved", name)}
	if err := i.tenant.Call(t.Context(), http.MethodPatch, "/v1/webhooks/"+moved, to, nil); err != nil {
		t.Fatal(err)
	}
	return append(foreign, moved)
}

// isSafe looks at the stack by the functions, not by the page.
func (i incident) isSafe(t *testing.T, by string, began time.Time, steps int, foreign []string) {
	t.Helper()
	took := time.Since(began)
	t.Logf("by %s: %.1f s, %d steps", by, took.Seconds(), steps)
	if took > playbookTime || steps > playbookSteps {
		t.Errorf("by %s: %s and %d steps", by, took, steps)
	}
	tenant, err := client.Ask(t.Context(), i.tenant, api.GetTenant, api.TenantRequest{TenantID: "acme"})
	if err != nil || !tenant.Marks.Paused() {
		t.Errorf("by %s: the tenant is not paused: %+v, %v", by, tenant.Marks, err)
	}
	keys, err := client.Ask(t.Context(), i.tenant, api.ListKeys, api.KeysRequest{TenantID: "acme"})
	for _, k := range keys.Data {
		if k.RevokedAt.IsZero() {
			t.Errorf("by %s: the key %s is good, %v", by, k.KeyID, err)
		}
	}
	paused := map[string]bool{}
	for _, e := range tenant.Endpoints.Data {
		paused[e.EndpointID] = e.EndpointPaused
	}
	for _, id := range foreign {
		if !paused[id] {
			t.Errorf("by %s: %s goes on with its tenant", by, id)
		}
	}
}
