//go:build emulator

package webhooks

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// contended is the emulator with two traits of DynamoDB: a call takes some milliseconds, and of two transactions on one
// item at once, the later is cancelled.
type contended struct {
	next aws.HTTPClient
	open atomic.Bool // a transaction
}

func (c *contended) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		time.Sleep(5 * time.Millisecond)
		return c.next.Do(r)
	}
	if !c.open.CompareAndSwap(false, true) {
		const cancelled = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
			`"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict"}]}`
		header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
		body := io.NopCloser(strings.NewReader(cancelled))
		return &http.Response{StatusCode: http.StatusBadRequest, Header: header, Body: body}, nil
	}
	defer c.open.Store(false)
	time.Sleep(15 * time.Millisecond)
	return c.next.Do(r)
}

type noAudit struct{}

func (noAudit) Write(context.Context, ...audit.Line) error { return nil }

// onTables is the service with its endpoints in a table.
func onTables(t *testing.T) (w *rig, key string) {
	t.Helper()
	w, key = newTenant(t)
	cfg := testkit.Moto(t)
	tables := testkit.Tables(t, cfg)
	cfg.HTTPClient = &contended{next: cfg.HTTPClient}
	w.handler.Endpoints = dynamo.NewEndpoints(dynamodb.NewFromConfig(cfg), tables.Endpoints)
	w.handler.Audit, w.handler.Log = noAudit{}, slog.New(slog.DiscardHandler)
	w.handler.Random = rand.Float64 // requests that meet would meet again after equal waits
	return w, key
}

// atOnce makes n requests at once and returns their answers.
func (w *rig) atOnce(n int, request func(n int) answer) []answer {
	answers := make([]answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = request(i) })
	}
	all.Wait()
	return answers
}

// patient repeats a request that is answered 503, as a client does: on a busy machine, the time in which a change is
// tried again may end before its turn comes.
func patient(request func() answer) (a answer) {
	for range 10 {
		a = request()
		if a.status != http.StatusServiceUnavailable {
			return a
		}
		time.Sleep(time.Second)
	}
	return a
}

// Twice as many as Terraform makes: ten requests at a time, each about another endpoint.
func TestHandler_twentyChangesOfDifferentEndpointsAtOnceAllSucceed(t *testing.T) {
	w, key := onTables(t)
	url := func(n int, version string) string {
		return fmt.Sprintf(`{"url":"https://example.com/%s/%d","events":["*"]}`, version, n)
	}
	ids := make([]string, 20)
	all := func(what string, want int, request func(n int) answer) []answer {
		answers := w.atOnce(len(ids), func(n int) answer { return patient(func() answer { return request(n) }) })
		for n, a := range answers {
			if a.status != want {
				t.Errorf("%s, %d: %d %s", what, n, a.status, a.body)
			}
		}
		return answers
	}
	for n, a := range all("create", 201, func(n int) answer { return w.do(key, "POST", "/v1/webhooks", url(n, "a")) }) {
		var e management.Endpoint
		a.decode(t, &e)
		ids[n] = e.ID
	}
	at := func(n int) string { return "/v1/webhooks/" + ids[n] }
	all("move", 200, func(n int) answer { return w.do(key, "PATCH", at(n), url(n, "b")) })
	all("delete", 204, func(n int) answer { return w.do(key, "DELETE", at(n), "") })
	all("restore", 200, func(n int) answer { return w.do(key, "POST", at(n)+"/restore", "") })
}

// A crowd that wants more than there may be gets it up to the bounds, and true reasons beyond them.
func TestHandler_aCrowdKeepsToTheBounds(t *testing.T) {
	w, key := onTables(t)
	w.handler.Bounds.AtSite = 5
	answers := w.atOnce(40, func(n int) answer { // 3 hosts with 6 URLs each
		return w.do(key, "POST", "/v1/webhooks",
			fmt.Sprintf(`{"url":"https://h%d.example.com/%d","events":["*"]}`, n%3, n/3%6))
	})
	refused := 0
	for n, a := range answers {
		var fault struct {
			Code string `json:"code"`
		}
		if a.status == http.StatusCreated {
			continue
		}
		a.decode(t, &fault)
		switch fault.Code {
		case "duplicate_url", "host_limit":
			refused++
		case "unavailable":
			if a.header.Get("Retry-After") != "1" {
				t.Errorf("%d: again after %q", n, a.header.Get("Retry-After"))
			}
		default:
			t.Errorf("%d: %d %s", n, a.status, a.body)
		}
	}
	live, err := w.handler.Endpoints.Live(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	hosts, seen := map[string]int{}, map[string]endpoint.Endpoint{}
	for _, e := range live {
		hosts[e.Host()]++
		if other, twice := seen[e.URL]; twice || hosts[e.Host()] > 5 {
			t.Errorf("%s has %s beside %s", e.ID, e.URL, other.ID)
		}
		seen[e.URL] = e
	}
	if refused == 0 || len(live) == 0 {
		t.Errorf("%d refused, %d live", refused, len(live))
	}
}
