//go:build emulator && incident

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// formPages are the pages with a form, some of them only where something is wrong, as it is here.
var formPages = []string{
	"/endpoints", "/deliveries", "/dead?status=dead", "/rejected", "/keys", "/subscribers", "/find?q=nothing",
	"/event", "/tenant?tenant_id=a+b", "/tail", "/chart",
	"/endpoint?endpoint_id=webhook_nosuch", "/letter?delivery_id=msg_nosuch", "/job?job_id=job_nosuch",
}

// wrongInputs are inputs that no list takes, by field. A field that takes any text has another.
var wrongInputs = map[string]string{
	"since": "soon", "until": "next week", "published_since": "soon", "published_until": "7", "tenant_id": "a b",
	"endpoint_id": "/", "event_type": "User Created", "reason": "timeouts",
}

// fieldsOfForms are the fields to fill in on a page: the place of their form, and their names.
const fieldsOfForms = `[...document.querySelectorAll("main form")].flatMap((form, n) =>
	[...form.querySelectorAll('input:not([type=hidden]):not([type=checkbox])')].map(i => n + " " + i.name))`

// Every field of every form takes wrong input by the keyboard alone, and its form is still there with it. Where the
// input was refused, the fault is beside the field. Each page that comes of it passes axe-core.
func TestEveryFormIsStillThereAfterWrongInput(t *testing.T) {
	i := startStack(t)
	b := openBrowser(t, axeCore(t), t.TempDir())
	b.console(t, stack.Connect)
	filled, refused := 0, 0
	for _, path := range formPages {
		b.visit(t, path, "")
		fields := script[[]string](t, b, fieldsOfForms)
		if len(fields) == 0 {
			t.Errorf("%s has no form", path)
		}
		for _, field := range fields {
			b.visit(t, path, "")
			filled++
			if b.mistypes(t, path, field) {
				refused++
			}
		}
	}
	t.Logf("%d fields, %d inputs were refused", filled, refused)
	if refused < len(wrongInputs) {
		t.Errorf("%d inputs were refused", refused)
	}
	t.Run("a question", func(t *testing.T) { b.mistypesTheNumber(t, i) })
}

// What a filter selects is discarded by a job, and so is what an erased tenant has. Each takes minutes: the end of the
// queue has to be met when every look that may hide events is over.
func TestRejectedEventsAreDiscardedByAFilterAndByAnErasure(t *testing.T) {
	i := startStack(t)
	rejects := func(all int, tenants ...string) {
		for _, tenant := range tenants {
			i.publish(t, examples.Message{TenantID: tenant, Type: "no.such", Data: []byte(`{}`)})
		}
		eventually(t, "rejected events", func(ctx context.Context) (bool, error) {
			found, err := client.Ask(ctx, i.tenant, api.ListRejected, api.RejectedRequest{})
			return len(found.Data) == all, err
		})
	}
	rejects(3, "acme", "acme", "globex")
	ends(t, exit.Done, "rejected discard --tenant acme --reason unknown --watch")
	rejects(2, "acme")
	ends(t, exit.Done, "tenants erase acme")
	if left := ends(t, exit.Done, "rejected list"); !strings.Contains(left, "globex") || strings.Contains(left, "acme") {
		t.Errorf("left: %s", left)
	}
	if jobs := ends(t, exit.Done, "jobs list"); strings.Contains(jobs, "job_") {
		t.Errorf("an erased tenant's jobs: %s", jobs)
	}
}

// mistypes fills in a field of a page wrongly, and presses Enter. It reports whether the page has a fault.
func (b *browser) mistypes(t *testing.T, path, field string) (fault bool) {
	t.Helper()
	var form int
	var name string
	if _, err := fmt.Sscanf(field, "%d %s", &form, &name); err != nil {
		t.Fatal(err)
	}
	wrong, known := wrongInputs[name]
	if !known {
		wrong = "no such thing"
	}
	b.fills(t, form, name, wrong)
	b.do(t, chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(chromedp.CSS("#before")),
		chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf(`main form input[name=%q]`, name))))
	kept := script[string](t, b, fmt.Sprintf(`document.querySelector('main form input[name=%q]').value`, name))
	if kept != wrong {
		t.Errorf("%s, %s: the form has %q, want %q", path, field, kept, wrong)
	}
	const faults = `[...document.querySelectorAll("main [aria-invalid]")].map(i =>
		document.getElementById(i.getAttribute("aria-describedby"))?.innerText ?? "")`
	told := script[[]string](t, b, faults)
	for _, text := range told {
		if text == "" {
			t.Errorf("%s, %s: a field is wrong, and nothing says why", path, field)
		}
	}
	if elsewhere := script[int](t, b, `document.querySelectorAll("main .note[role=alert]").length`); elsewhere > 0 {
		t.Errorf("%s, %s: the fault is beside no field", path, field)
	}
	b.passesAxe(t)
	return len(told) > 0
}

// fills types into a field, and into those without which the form is not sent.
func (b *browser) fills(t *testing.T, form int, name, text string) {
	t.Helper()
	script[bool](t, b, fmt.Sprintf(`(() => {
		document.body.insertAdjacentHTML("beforeend", '<i id="before"></i>');
		const form = document.querySelectorAll("main form")[%d];
		for (const i of form.querySelectorAll("input[required]")) i.value ||= "no such thing";
		const field = form.querySelector('input[name=%q]');
		field.value = "";
		field.focus();
		return true;
	})()`, form, name))
	b.do(t, chromedp.KeyEvent(text))
}

// mistypesTheNumber sends a question without a ticked box, and one with a wrong number.
func (b *browser) mistypesTheNumber(t *testing.T, i incident) {
	t.Helper()
	i.publish(t, examples.Message{TenantID: "acme", Type: "user.nosuch", Data: []byte(`{}`)})
	eventually(t, "a rejected event", func(ctx context.Context) (bool, error) {
		found, err := client.Ask(ctx, i.tenant, api.ListRejected, api.RejectedRequest{TenantID: "acme"})
		return len(found.Data) > 0, err
	})
	const discard = `button[name=act][value=discard]`
	b.visit(t, "/rejected?tenant_id=acme", "user.nosuch")
	b.press(t, discard, `main [role=alert]`)
	b.says(t, "no box was ticked")
	b.says(t, "user.nosuch") // the list is still there, and its filter
	if at := script[string](t, b, `document.querySelector("main form input[name=tenant_id]").value`); at != "acme" {
		t.Errorf("the filter has %q", at)
	}
	script[bool](t, b, `document.querySelector("td.tick input").checked = true`)
	b.press(t, discard, `input[name=typed]`)
	b.says(t, "Delete 1 rejected event for good?")
	b.passesAxe(t)
	b.do(t, chromedp.SendKeys(chromedp.CSS(`input[name=typed]`), "2"+kb.Enter),
		chromedp.WaitVisible(chromedp.CSS(`input[name=typed][aria-invalid]`)))
	b.says(t, "that is not the number in the question")
	b.passesAxe(t)
	b.do(t, chromedp.SendKeys(chromedp.CSS(`input[name=typed]`), "1"+kb.Enter),
		chromedp.WaitVisible(chromedp.CSS(`.note[role=status]`)))
	b.says(t, "1 discarded")
}
