//go:build emulator

package e2e

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	local "github.com/herald-webhooks/herald/infra/local/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

var older = flag.String("older", "", "an earlier commit, for TestTwoVersionsReadWhatTheOtherHasStored")

// An update and its rollback change the functions under tables and queues that stay. Deliveries that are held, dead
// letters, keys and endpoints of each version are finished by the other. The template is this version's all the time: a
// function of an older one that needs a variable that has gone since then cannot start, which an update does not have.
func TestTwoVersionsReadWhatTheOtherHasStored(t *testing.T) {
	if *older == "" {
		t.Fatal("make versions OLDER=commit says which versions")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	prepare := exec.Command("git", "worktree", "add", "--detach", source, *older)
	prepare.Dir = root
	execute(t, prepare)
	t.Cleanup(func() {
		remove := exec.Command("git", "worktree", "remove", "--force", source)
		remove.Dir = root
		if out, err := remove.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	versions := map[string]string{"older": source, "newer": root}
	for name, from := range versions {
		compile(t, from, filepath.Join(dir, name))
	}
	install(t, filepath.Join(dir, "older"), dir)
	stack, err := local.Start(t.Context(), local.Options{Root: root, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	at, err := receiver.Start(stack.ReceiverCertFile, stack.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() }) // the process ends
	mine := client.New(stack.State)
	var left remains
	for n, name := range []string{"older", "newer", "older", "newer"} {
		install(t, filepath.Join(dir, name), dir)
		if n > 0 {
			left.finish(t, mine)
		}
		left = leave(t, mine, at)
	}
	left.finish(t, mine)
}

// compile builds the functions of a checkout into a folder for each.
func compile(t *testing.T, from, into string) {
	t.Helper()
	if err := os.MkdirAll(into, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", into, "./functions/...")
	build.Dir = from
	execute(t, build)
}

// install puts the functions of a version in the place of those that the stack runs, and ends their processes: a batch
// that one of them has comes back.
func install(t *testing.T, version, dir string) {
	t.Helper()
	binaries, err := os.ReadDir(version)
	if err != nil {
		t.Fatal(err)
	}
	functions := filepath.Join(dir, "functions")
	for _, b := range binaries {
		text, err := os.ReadFile(filepath.Join(version, b.Name()))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(functions, b.Name(), "bootstrap")
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+".new", text, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the end of the processes before", func(context.Context) (bool, error) {
		running, err := filepath.Glob("/proc/[0-9]*/exe")
		left := 0
		for _, exe := range running {
			program, _ := os.Readlink(exe) // none where it has gone
			if pid, err := strconv.Atoi(strings.Split(exe, "/")[2]); err == nil &&
				strings.HasPrefix(program, functions) && strings.HasSuffix(program, " (deleted)") {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL) // gone already, unless it is killed
			}
		}
		return left == 0, err
	})
}

// remains are what a version leaves to the next.
type remains struct {
	tenant     *client.Client // with a key of this version
	held, dead subscription
	letter     api.DeadLetter
}

const heldEvents = 3

// leave has a version issue a key, create two endpoints, hold deliveries to one and seal a dead letter of the other.
func leave(t *testing.T, by *client.Client, at *receiver.Server) (r remains) {
	t.Helper()
	id := unique("tenant")
	key, err := by.IssueKey(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r.tenant = by.As(id, key)
	r.held = register(t, r.tenant, at, []string{"user.*"})
	r.dead = register(t, r.tenant, at, []string{"organization.*"})
	r.held.verify(t, r.held.SigningSecret)
	r.dead.verify(t, r.dead.SigningSecret)
	if _, err := client.Ask(t.Context(), by, api.Pause, api.Target{TenantID: id, EndpointID: r.held.ID}); err != nil {
		t.Fatal(err)
	}
	for range heldEvents {
		publish(t, r.tenant, "user.created")
	}
	r.dead.Fail(failing...)
	publish(t, r.tenant, "organization.created")
	letters, err := by.AwaitDeath(t.Context(), patience.Limit(), r.dead.ID, 1)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
	r.letter = letters[0]
	eventually(t, "deliveries that are held", func(ctx context.Context) (bool, error) {
		_, waiting, err := by.Health(ctx, id, r.held.ID)
		return waiting.Count == heldEvents, err
	})
	return r
}

// finish has another version deliver what was left, and an event of its own to the endpoint that it finds.
func (r remains) finish(t *testing.T, by *client.Client) {
	t.Helper()
	target := api.Target{TenantID: r.tenant.TenantID, EndpointID: r.held.ID}
	if _, err := client.Ask(t.Context(), by, api.Resume, target); err != nil {
		t.Fatal(err)
	}
	publish(t, r.tenant, "user.updated")
	genuine(t, r.held.await(t, heldEvents+1))
	change(t, r.tenant, "PATCH", r.held.ID, about{"description": "moved on"}) // by the key that the other issued
	before := len(r.dead.Requests())
	r.dead.Fail()
	if err := by.Replay(t.Context(), r.letter.DeliveryID); err != nil {
		t.Fatal(err)
	}
	replayed := r.dead.await(t, before+1)[before:]
	genuine(t, replayed)
	if !slices.ContainsFunc(replayed, func(q receiver.Request) bool { return q.ID == r.letter.DeliveryID }) {
		t.Errorf("%s was not replayed", r.letter.DeliveryID)
	}
}
