package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/infra/internal/receiver"
	"github.com/herald-webhooks/herald/infra/local/stack"
)

// The mix runs on the local stack with production's attempt timeout and batch size, and a
// concurrency that this machine can hold. Its rate is three times what the mappings could do
// if every invocation were held for the attempt timeout.
const (
	mixConcurrency = 10
	mixBatch       = 10
	mixTimeout     = 15 // seconds
	mixRate        = 3 * mixConcurrency * mixBatch / mixTimeout
	mixConfig      = `version = 0.1
[mix.deploy.parameters]
stack_name = "herald-mix"
parameter_overrides = [
    "Stage=local", "MaximumConcurrency=%d", "BatchSize=%d", "AttemptTimeoutSeconds=%d",
    "EgressAllowCidrs=127.0.0.1/32", "EgressAllowPorts=1024-65535",
]
`
)

// mix measures what one hanging endpoint, which gets a tenth of the deliveries, does to the
// others: SendMessage to POST, each phase lasting the given time.
func mix(ctx context.Context, length time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "herald-mix")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	functions, err := filepath.Abs(".local/functions")
	if err != nil {
		return fmt.Errorf("finding the functions: %w", err)
	}
	if err := os.Symlink(functions, filepath.Join(dir, "functions")); err != nil {
		return fmt.Errorf("linking the functions: %w", err)
	}
	config := filepath.Join(dir, "samconfig.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, mixConfig, mixConcurrency, mixBatch, mixTimeout), 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	s, err := stack.Start(ctx, stack.Options{Dir: dir, SAMConfig: config, Environment: "mix"})
	if err != nil {
		return fmt.Errorf("starting the stack: %w", err)
	}
	defer s.Close()
	m := &mixer{client: client.New(s.State), arrived: map[string]time.Time{}}
	return m.run(ctx, length)
}

type mixer struct {
	client  *client.Client
	mu      sync.Mutex
	arrived map[string]time.Time // by user id, of the healthy endpoint
	hung    int
}

// phase is a stretch of the mix at the fixed rate.
type phase struct {
	name   string
	length time.Duration
	hangs  bool // a tenth of the events go to an endpoint that hangs
}

func (m *mixer) run(ctx context.Context, length time.Duration) error {
	healthy, err := m.receiver(m.answer)
	if err != nil {
		return err
	}
	defer func() { _ = healthy.Close() }()
	hanging, err := m.receiver(m.hang)
	if err != nil {
		return err
	}
	defer func() { _ = hanging.Close() }()
	if _, err := m.client.CreateEndpoint(ctx, healthy.URL, "user.*"); err != nil {
		return err
	}
	took := map[string][]time.Duration{}
	for _, p := range []phase{
		// Hanging ones too, so that every process is started: cold starts are not what is measured.
		{"warm", length / 6, true},
		{"without", length, false},
		{"with", length, true},
	} {
		if took[p.name], err = m.phase(ctx, p, hanging.URL); err != nil {
			return err
		}
	}
	printMix(length, took["without"], took["with"], m.hung)
	return nil
}

func printMix(length time.Duration, without, with []time.Duration, hung int) {
	fmt.Printf("\nThe mix: what an endpoint that hangs does to the deliveries of another one.\n"+
		"%d events a second, ten at once, for %s; MaximumConcurrency %d, batch %d, attempt timeout %d s.\n"+
		"Times are from SendMessage to the POST at the healthy endpoint.\n\n",
		mixRate, length, mixConcurrency, mixBatch, mixTimeout)
	fmt.Printf("%-38s %8s %10s %10s %10s\n", "", "events", "p50 ms", "p99 ms", "max ms")
	for _, row := range []struct {
		name string
		took []time.Duration
	}{{"without a hanging endpoint", without}, {"a tenth to an endpoint that hangs", with}} {
		fmt.Printf("%-38s %8d %10d %10d %10d\n", row.name,
			len(row.took), at(row.took, 0.5), at(row.took, 0.99), at(row.took, 1))
	}
	fmt.Printf("p99 with / without: %.2f; attempts that hung: %d\n",
		float64(at(with, 0.99))/float64(at(without, 0.99)), hung)
}

// phase publishes at the fixed rate, ten events at a time so that batches are mixed, and returns
// the sorted latencies of the healthy deliveries. Its hanging endpoint is a new one, which
// nobody knows to hang, and is deleted afterwards.
func (m *mixer) phase(ctx context.Context, p phase, hanging string) (took []time.Duration, err error) {
	if p.hangs {
		e, refused := m.client.CreateEndpoint(ctx, hanging, "organization.*")
		if refused != nil {
			return nil, refused
		}
		defer func() {
			_, gone := m.client.API(ctx, http.MethodDelete, "/v1/webhooks/"+e.ID, nil, nil)
			err = errors.Join(err, gone)
			time.Sleep((mixTimeout + 5) * time.Second) // until the last attempt has ended
		}()
	}
	sent := map[string]time.Time{}
	var sending sync.WaitGroup
	bursts := int(p.length.Seconds() * mixRate / mixBatch)
	failures := make(chan error, bursts)
	tick := time.NewTicker(time.Second * mixBatch / mixRate)
	defer tick.Stop()
	for i := range bursts {
		<-tick.C
		var bodies []string
		for j := range mixBatch {
			user := fmt.Sprintf("user_%s_%d_%d", p.name, i, j)
			body := fmt.Sprintf(`{"tenant_id":%q,"type":"user.updated","data":{"userId":%q}}`, m.client.TenantID, user)
			switch {
			case j < mixBatch-1:
				sent[user] = time.Now()
			case p.hangs:
				body = strings.Replace(body, "user.updated", "organization.updated", 1)
			default:
				continue // the healthy endpoint gets the same in all phases
			}
			bodies = append(bodies, body)
		}
		sending.Go(func() {
			if err := m.publish(ctx, bodies); err != nil {
				failures <- err
			}
		})
	}
	sending.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return nil, err
	}
	return m.collect(sent)
}

func (m *mixer) publish(ctx context.Context, bodies []string) error {
	in := &sqs.SendMessageBatchInput{QueueUrl: &m.client.EventsQueueURL}
	for i, body := range bodies {
		in.Entries = append(in.Entries,
			types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &body})
	}
	out, err := m.client.SQS.SendMessageBatch(ctx, in)
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	if len(out.Failed) > 0 {
		return fmt.Errorf("publishing: %d events were refused", len(out.Failed))
	}
	return nil
}

// collect waits for every delivery, two minutes at most.
func (m *mixer) collect(sent map[string]time.Time) ([]time.Duration, error) {
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var took []time.Duration
		m.mu.Lock()
		for id, at := range sent {
			if arrived, ok := m.arrived[id]; ok {
				took = append(took, arrived.Sub(at))
			}
		}
		m.mu.Unlock()
		if len(took) == len(sent) {
			slices.Sort(took)
			return took, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d of %d deliveries never came", len(sent)-len(took), len(sent))
		}
	}
}

func at(sorted []time.Duration, quantile float64) int64 {
	return sorted[int(float64(len(sorted)-1)*quantile)].Milliseconds()
}

// receiver serves HTTPS on a free loopback port with the stack's certificate.
func (m *mixer) receiver(handle http.HandlerFunc) (*receiver.Server, error) {
	return receiver.Serve(m.client.ReceiverCertFile, m.client.ReceiverKeyFile, handle)
}

func (m *mixer) answer(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	var body struct {
		Data struct {
			UserID string `json:"userId"`
		} `json:"data"`
	}
	if err := json.UnmarshalRead(r.Body, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	if _, again := m.arrived[body.Data.UserID]; !again {
		m.arrived[body.Data.UserID] = now
	}
	m.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (m *mixer) hang(_ http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.hung++
	m.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body) // or the server would not notice that the client left
	<-r.Context().Done()
}
