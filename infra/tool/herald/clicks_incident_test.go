//go:build emulator && incident

package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// mostIncidentClicks lead from the first page to the end of an incident.
const mostIncidentClicks = 12

// A random incident is handled by the page alone: whatever can be sent is sent again, valid events are published,
// invalid ones are discarded, and each endpoint that is down is known by its owner's name. No id is typed.
func TestARandomIncidentByThePageAlone(t *testing.T) {
	bin, err := filepath.Abs("../../../.local/bin/incident")
	if err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Abs("../../docs/images")
	if err != nil {
		t.Fatal(err)
	}
	i := startStack(t)
	begin(t, bin, rand.Uint64N(100))
	b := openBrowser(t, "", images)
	b.console(t, stack.Connect)
	b.visit(t, "/", "What to do")
	b.picture(t, "console-incident.png", "light")
	o := clicker{t, b}

	for o.offers(`.todo a[href*="act=replay"]`) {
		o.click(`.todo a[href*="act=replay"]`, `form[action$="/start"] button`)
		o.click(`form[action$="/start"] button`, `nav a[data-key="j"][aria-current]`)
		b.says(t, "job")
		o.until("no job runs", func() bool { return !strings.Contains(o.states(), "running") })
		o.click(`nav a[data-key="o"]`, `.tiles`)
	}
	o.click(`.todo a[href$="/rejected"]`, `a[href*="act=discard"]`)
	o.click(`a[href*="act=discard"]`, `input[name=typed]`)
	o.types(`input[name=typed]`, script[string](t, b, `document.querySelector("input[name=count]").value`))
	o.click(`form[action$="/start"] button`, said)
	o.click(`a[href*="act=publish"]`, `form[action$="/start"] button`)
	o.click(`form[action$="/start"] button`, `progress`)
	o.until("all are published", func() bool { return strings.Contains(o.text(), "done: ") })
	o.click(`nav a[data-key="o"]`, `.tiles`)
	o.until("nothing is suggested but the endpoints that are down", func() bool {
		return !o.offers(`.todo a[href*="act=replay"]`) && !o.offers(`.todo a[href$="/rejected"]`)
	})
	t.Logf("%d clicks", b.clicks)
	if b.clicks > mostIncidentClicks {
		t.Errorf("took %d clicks, want at most %d", b.clicks, mostIncidentClicks)
	}
	i.isHandled(t)
}

// begin gives the stack of this folder an incident. Its receivers answer until the test ends.
func begin(t *testing.T, bin string, seed uint64) {
	t.Helper()
	t.Logf("the incident of seed %d", seed)
	ctx, stop := context.WithCancel(context.Background()) // it ends after the stack's last look
	c := exec.CommandContext(ctx, bin, "-seed", strconv.FormatUint(seed, 10), "-letters", "150")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = c.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "There it is") {
			return
		}
	}
	t.Fatal("the incident did not come")
}

// clicker is an operator with a mouse, who leaves a transcript.
type clicker struct {
	t *testing.T
	b *browser
}

func (o clicker) text() string {
	return script[string](o.t, o.b, `document.querySelector("main").innerText`)
}

// states are those of jobs, on a list or on the page of one.
func (o clicker) states() string {
	const all = `[...document.querySelectorAll('td[data-column="state"], .badge')].map(e => e.innerText).join()`
	return script[string](o.t, o.b, all)
}

func (o clicker) offers(selector string) bool {
	return script[bool](o.t, o.b, fmt.Sprintf(`document.querySelector(%q) !== null`, selector))
}

func (o clicker) click(selector, then string) {
	o.t.Helper()
	label := script[string](o.t, o.b, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
	o.b.press(o.t, selector, then)
	title := script[string](o.t, o.b, `document.querySelector("h1").innerText`)
	o.t.Logf("click %2d  %-60s → %s", o.b.clicks, label, title)
}

func (o clicker) types(selector, text string) {
	o.t.Helper()
	o.b.do(o.t, chromedp.SendKeys(chromedp.CSS(selector), text))
	o.t.Logf("          types %s, the count", text)
}

// until waits for the page. A live page asks again by itself.
func (o clicker) until(what string, holds func() bool) {
	o.t.Helper()
	eventually(o.t, what, func(context.Context) (bool, error) { return holds(), nil })
}

// isHandled looks at the stack by the functions, not by the page.
func (i incident) isHandled(t *testing.T) {
	t.Helper()
	eventually(t, "the end of the incident", func(ctx context.Context) (bool, error) {
		causes, err := client.Ask(ctx, i.tenant, api.ListCauses, api.Selector{})
		if err != nil {
			return false, err
		}
		for _, c := range causes.Data {
			if next.Takes(c.State) {
				return false, nil
			}
		}
		rejected, err := client.Ask(ctx, i.tenant, api.ListRejected, api.RejectedRequest{})
		return len(rejected.Data) == 0, err
	})
}
