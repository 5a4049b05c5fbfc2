package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"
)

// The commands that look only, and all others, with their exit codes where there is no act.
var (
	readers = []string{
		"code", "status", "endpoints list", "endpoints show", "deliveries show", "deliveries find", "dead list", "dead show",
		"rejected list", "rejected show", "jobs list", "jobs show", "keys list", "events list", "tail",
	}
	actors = map[string]int{
		"endpoints import -": exitDone, "endpoints pause a/b a/c": exitDone, "endpoints resume a/b": exitDone,
		"endpoints release a/b": exitDone, "endpoints discard a/b": exitDone, "tenants pause a": exitDone,
		"tenants resume a": exitDone, "tenants discard a": exitDone, "tenants erase a": exitDone,
		"dead replay --tenant a": exitDone, "dead replay msg_1": exitUsage, "dead purge --tenant a --watch": exitDone,
		"dead purge msg_1": exitUsage, "rejected publish --tenant a": exitDone, "rejected publish m1": exitUsage,
		"rejected discard m1": exitUsage, "jobs stop job_1": exitUsage, "jobs resume job_1": exitUsage,
		"keys issue --tenant a": exitUsage, "keys revoke hk_1": exitUsage, "test a/b": exitDone, "verify": exitUsage,
		"events send user.created --tenant a": exitDone, "console": exitUsage,
	}
)

func TestDryRun_changesNothing(t *testing.T) {
	looks := []any{"endpoint", "causes"}
	for line, want := range actors {
		f := &fake{
			answers: map[string]string{"webhooks import": data("would_create")},
			later:   slices.Repeat([]string{`{"selected":1,"ready":1,"complete":true,"next_cursor":null}`}, 10),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var out bytes.Buffer
		terminal := terminal{in: strings.NewReader(`{"tenant_id":"a"}`), out: &out, err: &out}
		code := f.run(ctx, terminal, append(strings.Fields(line), "--yes", "--dry-run")...)
		if code != want || ctx.Err() != nil {
			t.Errorf("%s: exit code %d, want %d, %v: %s", line, code, want, ctx.Err(), &out)
		}
		for _, r := range f.requests {
			if r["dry_run"] != true && !slices.Contains(looks, r["action"]) {
				t.Errorf("%s: asked %v", line, r)
			}
		}
		if want == exitUsage {
			contains(t, out.String(), "--dry-run")
		}
		cancel()
	}
}

// A new command is added to one of the lists.
func TestDryRun_isTestedOfEveryCommand(t *testing.T) {
	var each func(group *cli.Command, path string)
	each = func(group *cli.Command, path string) {
		for _, c := range group.Commands {
			name := strings.TrimSpace(path + " " + c.Name)
			if each(c, name); len(c.Commands) > 0 || slices.Contains(readers, name) {
				continue
			}
			tested := false
			for line := range actors {
				tested = tested || strings.HasPrefix(line+" ", name+" ")
			}
			if !tested {
				t.Errorf("herald %s neither looks only nor has a dry run", name)
			}
		}
	}
	each(new(app).root(), "")
}
