package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// row is one line of the table.
type row struct {
	name     string
	mode     string // of the process
	load     workload
	bare     []measurement // the bare client's, each run right before one of results
	results  []measurement
	requests []float64 // to AWS, of each run, for one delivery
}

func drive(o options) error {
	wanted, err := regexp.Compile(o.rows)
	if err != nil {
		return fmt.Errorf("reading -rows: %w", err)
	}
	dir, err := os.MkdirTemp("", "herald-bench")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ca, err := pki.New("Herald benchmark")
	if err != nil {
		return err
	}
	files, err := ca.Write(dir, pki.Leaf{})
	if err != nil {
		return err
	}
	server, err := receiver.Serve(files.Cert, files.Key, http.HandlerFunc(receive))
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	rows := slices.DeleteFunc(rowsOf(o.deliveries, server.URL), func(r *row) bool { return !wanted.MatchString(r.name) })
	for round := range o.rounds {
		for _, r := range rows {
			if err := r.measure(files.CA); err != nil {
				return fmt.Errorf("%s, round %d: %w", r.name, round+1, err)
			}
		}
	}
	printTable(rows, o.rounds)
	return nil
}

// rowsOf are the measurements of one round.
func rowsOf(deliveries int, receiver string) []*row {
	var rows []*row
	for _, mode := range []string{"deliver", "fanout"} {
		for _, batch := range []int{50, 10, 1} {
			load := workload{Batch: batch, Invocations: max(deliveries/batch, 20), Receiver: receiver}
			if batch == 1 {
				load.Invocations /= 5 // each takes many times as long
			}
			rows = append(rows, &row{name: fmt.Sprintf("%s, %d", mode, batch), mode: mode, load: load})
		}
	}
	return rows
}

// measure runs the bare client, at as many posts at once as the row's batch has records, and then the row.
func (r *row) measure(caFile string) error {
	bare, err := inChild("bare", r.load, caFile)
	if err != nil {
		return err
	}
	fake := &fakeAWS{receiver: r.load.Receiver}
	server := httptest.NewServer(fake)
	defer server.Close()
	load := r.load
	load.AWS = server.URL
	m, err := inChild(r.mode, load, caFile)
	if err != nil {
		return err
	}
	r.bare, r.results = append(r.bare, bare), append(r.results, m)
	r.requests = append(r.requests, float64(fake.calls.Load())/float64(load.Batch*(load.Invocations+warmups)))
	return nil
}

// receive answers 204 at once.
func receive(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the client went away
	}
	w.WriteHeader(http.StatusNoContent)
}

// runtimeSettings are the queue workers' in template.yaml (decision 8). The bare client runs with them too.
var runtimeSettings = []string{"GOGC=400", "GOMEMLIMIT=200MiB", "GOMAXPROCS=1"}

// inChild runs one measurement in its own process.
func inChild(mode string, in workload, caFile string) (m measurement, err error) {
	argument, err := json.Marshal(in)
	if err != nil {
		return m, fmt.Errorf("encoding the workload: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return m, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(exe, mode, string(argument)) //nolint:gosec // this program itself
	cmd.Env = append(append(os.Environ(), runtimeSettings...),
		"AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_LAMBDA_LOG_LEVEL=INFO",
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench",
		"AWS_ENDPOINT_URL="+in.AWS, "SSL_CERT_FILE="+caFile)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &out // through a pipe, as Lambda reads a function's log
	if err := child.Run(context.Background(), cmd); err != nil {
		return m, fmt.Errorf("measuring: %w: %s", err, out.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return m, fmt.Errorf("reading the measurement %q: %w", out.Bytes(), err)
	}
	return m, nil
}
