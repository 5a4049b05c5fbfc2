package commands

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

func TestStop_turnsOffWhatIsOn_andStartTurnsItOnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.enabled["deliver"] = false // by hand, before
		code, said := a.play(t, "y\n", "stop")
		contains(t, said, "herald-prod in eu-central-1: Turn off 2", "q to h-deliver         was off before",
			"schedule of h-release  stopped", "for up to 14 days")
		all := map[string]bool{"fanout": false, "deliver": false, everyMinute: false}
		if diff := cmp.Diff(all, a.enabled); diff != "" || code != exit.Done {
			t.Fatalf("exit code %d (-want +got):\n%s", code, diff)
		}
		mark := map[string]string{"herald:stopped": "2026-05-02T09:00:00Z"}
		marks := map[string]map[string]string{
			"arn:aws:lambda:eu-central-1:1:event-source-mapping:fanout": mark,
			"arn:aws:lambda:eu-central-1:1:function:h-release":          mark,
		}
		if diff := cmp.Diff(marks, a.tags); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
		changes := len(a.changes)
		if code, said = a.play(t, "", "-y stop"); code != exit.Done || len(a.changes) > changes {
			t.Errorf("a second stop: exit code %d, %s", code, said)
		}
		contains(t, said, "nothing to stop", "q to h-fanout          off  0s ago")

		code, said = a.play(t, "y\n", "start")
		contains(t, said, "q to h-fanout          off  0s ago      start\n", "herald-prod in eu-central-1: Turn on 2",
			"q to h-deliver         stays off", "started")
		all = map[string]bool{"fanout": true, "deliver": false, everyMinute: true}
		if diff := cmp.Diff(all, a.enabled); diff != "" || code != exit.Done || len(a.tags) > 0 {
			t.Errorf("exit code %d, marks %v (-want +got):\n%s", code, a.tags, diff)
		}
		code, said = a.play(t, "", "-y start")
		if contains(t, said, "nothing to start"); code != exit.Done {
			t.Errorf("a start without a stop: exit code %d", code)
		}
	})
}

// Threat of an operator: stops everything, or starts what others have stopped. Held by: no policy of the stack allows
// it; a tag marks each switch that it turned off.
func TestStop_asksFirst(t *testing.T) {
	for input, line := range map[string]string{
		"n\n": "stop", "": "stop", "y\n": "--no-input stop", "y": "--dry-run stop",
	} {
		a := newAccount()
		if _, said := a.play(t, input, line); len(a.changes) > 0 {
			t.Errorf("%q, herald %s: %v, %s", input, line, a.changes, said)
		}
	}
}

func TestStop_saysWhatIsLeftToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.denied = "/schedules/"
		code, said := a.play(t, "", "-y stop")
		contains(t, said, "schedule of h-release (rights: infra/docs/recovery.md): you have no right",
			"1 of 3 were not turned: run herald stop again")
		if code != exit.Unhealthy || a.enabled["fanout"] || !a.enabled[everyMinute] {
			t.Errorf("exit code %d, %v", code, a.enabled)
		}
		a.denied = ""
		before := maps.Clone(a.tags)
		code, said = a.play(t, "", "-y stop")
		if contains(t, said, "stopped before", "stopped\n"); code != exit.Done || len(a.tags) != 3 {
			t.Errorf("exit code %d, marked %v, before %v", code, a.tags, before)
		}
		code, _ = a.play(t, "", "-y start")
		if code != exit.Done || !a.enabled[everyMinute] || !a.enabled["fanout"] {
			t.Errorf("exit code %d, %v", code, a.enabled)
		}
	})
}

func TestStop_interruptedSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		ctx, cancel := context.WithCancel(t.Context())
		cancelling := &cancels{account: a, after: 2, cancel: cancel}
		var out bytes.Buffer
		on := &terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Now: clock}
		config := a.config()
		config.HTTPClient = cancelling
		connect := func(context.Context, stack.Where) (stack.Stack, error) {
			return stack.Stack{Name: "herald-prod", AWS: config, Status: "UPDATE_IN_PROGRESS"}, nil
		}
		code := Run(ctx, []string{"herald", "-y", "stop"}, on, connect)
		contains(t, out.String(), "a deployment is under way", "interrupted: run herald stop again")
		if code != exit.Unhealthy {
			t.Errorf("exit code %d: %s", code, &out)
		}
	})
}

// cancels interrupts the command at a change.
type cancels struct {
	*account
	after  int
	cancel context.CancelFunc
}

func (c *cancels) Do(r *http.Request) (*http.Response, error) {
	response, err := c.account.Do(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.changes) >= c.after {
		c.cancel()
	}
	return response, err
}

// The page has the commands, and names the rights that they take.
func TestRecovery_stopsAndStartsWithTheRightsThatItNames(t *testing.T) {
	text, err := os.ReadFile("../../../docs/recovery.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^herald --stack herald-prod (.*)$`).FindAllStringSubmatch(string(text), -1)
	_, rights, _ := strings.Cut(string(text), "**Rights.** ")
	rights, _, _ = strings.Cut(rights, "\n\n")
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		var played []string
		for _, c := range commands {
			if code, said := a.play(t, "y\n", c[1]); code != exit.Done {
				t.Errorf("herald %s: exit code %d: %s", c[1], code, said)
			}
			played = append(played, fmt.Sprint(c[1], " ", a.enabled["fanout"]))
		}
		if diff := cmp.Diff([]string{"stop false", "start true"}, played); diff != "" {
			t.Errorf("commands, and whether a mapping is on after each (-want +got):\n%s", diff)
		}
		for action := range a.actions {
			if !strings.Contains(rights, action+"`") {
				t.Errorf("the page does not name the right %s", action)
			}
		}
		if len(a.actions) != 8 {
			t.Errorf("took %v", a.actions)
		}
	})
}
