//go:build emulator

package verify_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/client"
	local "github.com/herald-webhooks/herald/infra/local/stack"
	"github.com/herald-webhooks/herald/infra/tool/verify"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// start starts a local stack with the functions of the build, some of them replaced.
func start(t *testing.T, instead map[string]string) verify.Config {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	functions := filepath.Join(dir, "functions")
	if err := os.CopyFS(functions, os.DirFS(filepath.Join(root, ".local", "functions"))); err != nil {
		t.Fatal(err, ": run make native")
	}
	for name, text := range instead {
		if err := os.WriteFile(filepath.Join(functions, name, "bootstrap"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	running, err := local.Start(t.Context(), local.Options{Root: root, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Close)
	receiver, err := verify.StartLocal(running.ReceiverCertFile, running.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Close() })
	return verify.Config{
		Client: client.New(running.State), Receiver: receiver, Name: "herald-local", Local: true,
		Logs: verify.LocalLogs(filepath.Join(dir, "logs")), Patience: patience.Limit(), Processes: 4,
		Objective: patience.Limit(), // for a busy machine

		Waits:    []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second},
		Progress: func(r verify.Result) { t.Logf("%s %s: %s", r.State, r.Step, r.Says) },
	}
}

var onlyOnAWS = []string{
	"a quiet tenant's deliveries overtake a noisy one's (fair queues)", "functions start fast",
	"each role does its own work and no other's", "nothing is invoked past its queue",
	"who calls as an operator is on record (CloudTrail)", "no alarm is on", "an alarm tells its topic",
}

func TestRun_ofAStackThatWorks(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	results, ok := verify.Run(t.Context(), c)
	var open []string
	for _, r := range results {
		if r.State != verify.Held {
			open = append(open, r.Step)
		}
	}
	const left = "13 endpoints, 1 dead letters, 1 rejected events, and all keys"
	if gone := results[len(results)-1].Says; !ok || gone != left {
		t.Errorf("left %s\n%s", gone, verify.Report(c.Name, time.Now(), results, ok))
	}
	if diff := cmp.Diff(onlyOnAWS, open); diff != "" {
		t.Errorf("steps that the local stack cannot show (-want +got):\n%s", diff)
	}
}

func TestRun_namesTheBrokenLink(t *testing.T) {
	t.Parallel()
	c := start(t, map[string]string{"fanout": "#!/bin/sh\nexit 1\n"})
	c.Patience = 10 * time.Second
	// A killed run leaves a key and an endpoint of each tenant.
	for _, tenant := range []string{verify.Tenant, verify.Noisy} {
		request := api.IssueKeyRequest{TenantID: tenant, Description: "herald verify"}
		key, err := client.Ask(t.Context(), c.Client, api.IssueKey, request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Client.As(tenant, key.APIKey).CreateEndpoint(t.Context(), c.Receiver.URL()+"/left", "*"); err != nil {
			t.Fatal(err)
		}
	}
	results, ok := verify.Run(t.Context(), c)
	const left = "2 endpoints, 0 dead letters, 0 rejected events, and all keys"
	if results[0].State != verify.Held || results[0].Says != left {
		t.Errorf("removed of an earlier run: %+v, want %s", results[0], left)
	}
	broken, last := results[len(results)-2], results[len(results)-1]
	const link = "fanout does not get its events off EventsQueue"
	if ok || broken.State != verify.Broken || !strings.Contains(broken.Says, link) {
		t.Errorf("says of a stack without fanout: %+v", broken)
	}
	if last.State != verify.Held || last.Says != "1 endpoints, 0 dead letters, 0 rejected events, and all keys" {
		t.Errorf("did not remove what it made: %+v", last)
	}
	for _, tenant := range []string{verify.Tenant, verify.Noisy} {
		keys, err := client.Ask(t.Context(), c.Client, api.ListKeys, api.KeysRequest{TenantID: tenant})
		working := slices.ContainsFunc(keys.Data, func(k api.Key) bool { return k.RevokedAt.IsZero() })
		if err != nil || len(keys.Data) == 0 || working {
			t.Errorf("%s has keys that work: %+v, %v", tenant, keys.Data, err)
		}
	}
}
