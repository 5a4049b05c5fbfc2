package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// row is one line of the table.
type row struct {
	name     string
	mode     string // child process
	load     workload
	bareLoad workload      // of the bare client beside it; no batch: there is none
	bare     []measurement // the bare client's, each of the run right before that of results
	results  []measurement
	calls    []map[string]int
}

func (r *row) paired() bool { return r.bareLoad.Batch > 0 }

// bench holds the processes of one run.
type bench struct {
	receiver string // base URL
	caFile   string
	exe      string
}

func drive(o options) error {
	wanted, err := regexp.Compile(o.rows)
	if err != nil {
		return fmt.Errorf("reading -rows: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
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
	b := &bench{exe: exe, caFile: files.CA}
	port, stop, err := b.server("receiver", files.Cert, files.Key)
	if err != nil {
		return err
	}
	defer stop()
	b.receiver = "https://127.0.0.1:" + port
	rows := slices.DeleteFunc(b.rows(o.deliveries), func(r *row) bool { return !wanted.MatchString(r.name) })
	for round := range o.rounds {
		for _, r := range rows {
			if o.profiles != "" {
				r.load.Profile = filepath.Join(o.profiles, strings.NewReplacer(", ", "-", " ", "-").Replace(r.name)+".pprof")
			}
			if err := b.round(r); err != nil {
				return fmt.Errorf("%s, round %d: %w", r.name, round+1, err)
			}
		}
	}
	printTable(rows, o.rounds)
	return nil
}

// rows are the measurements of one round.
func (b *bench) rows(deliveries int) []*row {
	var rows []*row
	add := func(mode string, batch int) {
		load := workload{Batch: batch, Invocations: max(deliveries/batch, 20), BodyBytes: 500, Endpoints: 1,
			CAFile: b.caFile, Receiver: b.receiver + "/hook"}
		bare := load
		if mode != "exchange" && batch == 1 {
			load.Invocations /= 5 // each takes many times as long
		}
		rows = append(rows, &row{name: fmt.Sprintf("%s, %d", mode, batch), mode: mode, load: load, bareLoad: bare})
	}
	for _, mode := range []string{"deliver", "exchange", "fanout"} {
		for _, batch := range []int{50, 10, 1} {
			add(mode, batch)
		}
	}
	// 50 bodies of 115 KB and what Lambda adds are just below its limit of 6 MB.
	big := workload{Batch: 50, Invocations: 20, BodyBytes: 115_000, Endpoints: 50, CAFile: b.caFile,
		Receiver: b.receiver + "/big"}
	return append(rows, &row{name: "deliver, 6 MB, 1 MiB answers", mode: "deliver", load: big})
}

// round measures the bare client, at as many posts at once as the row's batch has records, and then
// the row.
func (b *bench) round(r *row) error {
	if r.paired() {
		m, err := b.child("bare", r.bareLoad)
		if err != nil {
			return err
		}
		r.bare = append(r.bare, m)
	}
	port, stop, err := b.server("aws", r.load.Receiver)
	if err != nil {
		return err
	}
	defer stop()
	in := r.load
	in.AWS = "http://127.0.0.1:" + port
	m, err := b.child(r.mode, in)
	if err != nil {
		return err
	}
	calls, err := callsOf(in.AWS)
	if err != nil {
		return err
	}
	r.results, r.calls = append(r.results, m), append(r.calls, calls)
	return nil
}

// runtimeSettings are those of the queue workers in template.yaml (decision 8). The bare client
// runs with them too.
var runtimeSettings = []string{"GOGC=400", "GOMEMLIMIT=200MiB", "GOMAXPROCS=1"}

// child runs one measurement in a process of its own.
func (b *bench) child(mode string, in workload) (m measurement, err error) {
	argument, err := json.Marshal(in)
	if err != nil {
		return m, fmt.Errorf("encoding the workload: %w", err)
	}
	cmd := exec.Command(b.exe, mode, string(argument)) //nolint:gosec // this program itself
	cmd.Stderr = os.Stderr
	cmd.Env = append(append(os.Environ(), runtimeSettings...),
		"AWS_LAMBDA_LOG_LEVEL=INFO", "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench",
		"AWS_ENDPOINT_URL="+in.AWS, "SSL_CERT_FILE="+in.CAFile)
	var out lastLine
	cmd.Stdout = &out // through a pipe, as Lambda reads a function's log
	if err := child.Run(context.Background(), cmd); err != nil {
		return m, fmt.Errorf("measuring: %w", err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("reading the measurement: %w", err)
	}
	return m, nil
}

// lastLine keeps the last line written to it and forgets the log before.
type lastLine []byte

func (l *lastLine) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	if end := bytes.LastIndexByte(bytes.TrimSuffix(*l, []byte("\n")), '\n'); end >= 0 {
		*l = append((*l)[:0], (*l)[end+1:]...)
	}
	return len(p), nil
}

func callsOf(url string) (map[string]int, error) {
	res, err := http.Get(url + "/calls")
	if err != nil {
		return nil, fmt.Errorf("asking for the calls: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	var calls map[string]int
	if err := json.NewDecoder(res.Body).Decode(&calls); err != nil {
		return nil, fmt.Errorf("reading the calls: %w", err)
	}
	return calls, nil
}

// server starts this program in a serving mode and returns the port it prints. It ends with stop,
// which closes its standard input, or with this program, which does so too.
func (b *bench) server(args ...string) (port string, stop func(), err error) {
	cmd := exec.Command(b.exe, args...) //nolint:gosec // this program itself
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	out, childsOut, err := os.Pipe()
	if err != nil {
		return "", nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	cmd.Stdout = childsOut
	process, err := child.Start(cmd)
	_ = childsOut.Close() // the child has its own
	if err != nil {
		_ = out.Close()
		return "", nil, err
	}
	stop = func() {
		_ = in.Close() // closed already if the process has ended
		<-process.Done()
		_ = out.Close()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("starting %s: no port: %w", args[0], err)
	}
	return strings.TrimSpace(line), stop, nil
}
