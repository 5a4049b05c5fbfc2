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
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// row is one line of the table.
type row struct {
	name    string
	mode    string // child process
	load    workload
	results []measurement
	calls   []map[string]int
}

// bench holds the processes of one run.
type bench struct {
	receivers map[string]string // base URL by protocol
	caFile    string
	exe       string
}

func drive(rounds, deliveries int) error {
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
	b.receivers = map[string]string{}
	for _, protocol := range []string{"http/1.1", "h2"} {
		port, stop, err := b.server("receiver", files.Cert, files.Key, protocol)
		if err != nil {
			return err
		}
		defer stop()
		b.receivers[protocol] = "https://127.0.0.1:" + port
	}
	rows := b.rows(deliveries)
	for round := range rounds {
		for _, r := range rows {
			if err := b.measure(r); err != nil {
				return fmt.Errorf("%s, round %d: %w", r.name, round+1, err)
			}
		}
	}
	printTable(rows, rounds)
	return nil
}

// rows are the measurements of one round. The bare client of the same concurrency and protocol
// runs right before each: that is what ratio compares.
func (b *bench) rows(deliveries int) []*row {
	rows := b.pair(1, deliveries/5, "http/1.1")
	rows = append(rows, b.pair(10, deliveries, "http/1.1")...)
	rows = append(rows, b.pair(50, deliveries, "http/1.1")...)
	rows = append(rows, b.pair(10, deliveries, "h2")...)
	rows = append(rows, b.pair(50, deliveries, "h2")...)
	// 50 bodies of 115 KB and what Lambda adds are just below its limit of 6 MB.
	big := workload{Batch: 50, Invocations: 20, BodyBytes: 115_000, Endpoints: 50, CAFile: b.caFile,
		Receiver: b.receivers["h2"] + "/big"}
	rows = append(rows, &row{name: "deliver, 6 MB, 1 MiB answers", mode: "deliver", load: big})
	for _, batch := range []int{1, 10, 50} {
		load := workload{Batch: batch, Invocations: max(deliveries/batch/2, 20), BodyBytes: 500, Endpoints: 1}
		rows = append(rows, &row{name: fmt.Sprintf("fanout, batch %d", batch), mode: "fanout", load: load})
	}
	return rows
}

func (b *bench) pair(batch, deliveries int, protocol string) []*row {
	load := workload{Batch: batch, Invocations: max(deliveries/batch, 20), BodyBytes: 500, Endpoints: 1, CAFile: b.caFile,
		Receiver: b.receivers[protocol] + "/hook"}
	return []*row{
		{name: fmt.Sprintf("bare client, %d at once, %s", batch, protocol), mode: "bare", load: load},
		{name: fmt.Sprintf("deliver, batch %d, %s", batch, protocol), mode: "deliver", load: load},
	}
}

// runtimeSettings are those of the queue workers in template.yaml (decision 8). The bare client
// runs with them too.
var runtimeSettings = []string{"GOGC=400", "GOMEMLIMIT=96MiB", "GOMAXPROCS=1", "GODEBUG=schedtrace=2000000000"}

// measure runs the row's process once, with an AWS endpoint of its own.
func (b *bench) measure(r *row) error {
	port, stop, err := b.server("aws", r.load.Receiver)
	if err != nil {
		return err
	}
	defer stop()
	in := r.load
	in.AWS = "http://127.0.0.1:" + port
	argument, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encoding the workload: %w", err)
	}
	cmd := exec.Command(b.exe, r.mode, string(argument)) //nolint:gosec // this program itself
	cmd.Stderr = os.Stderr
	cmd.Env = append(append(os.Environ(), runtimeSettings...),
		"AWS_LAMBDA_LOG_LEVEL=INFO", "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench",
		"AWS_ENDPOINT_URL="+in.AWS, "SSL_CERT_FILE="+in.CAFile)
	var out lastLine
	cmd.Stdout = &out // through a pipe, as Lambda reads a function's log
	if err := child.Run(context.Background(), cmd); err != nil {
		return fmt.Errorf("measuring: %w", err)
	}
	var m measurement
	if err := json.Unmarshal(out, &m); err != nil {
		return fmt.Errorf("reading the measurement: %w", err)
	}
	calls, err := callsOf(in.AWS)
	if err != nil {
		return err
	}
	r.results, r.calls = append(r.results, m), append(r.calls, calls)
	return nil
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

// printTable writes a line for each row: medians, and how far the CPU time of single runs was from theirs.
func printTable(rows []*row, rounds int) {
	fmt.Printf(`Medians of %d runs. A delivery of fanout is an event, of all others a POST.

  per second    deliveries a second
  CPU ms        CPU time of one delivery, user and system, in milliseconds
  spread        of the CPU time over the runs: (largest - smallest) / median
  allocs        allocations on the heap for one delivery
  AWS req.      AWS requests for one delivery, without Lambda's own receive and delete
  peak MiB      the largest memory of the process, in MiB
  ratio         CPU time over that of the bare client in the line above: the number to compare

`, rounds)
	fmt.Printf("%-34s %12s %10s %8s %8s %9s %10s %7s\n",
		"", "per second", "CPU ms", "spread", "allocs", "AWS req.", "peak MiB", "ratio")
	var base float64
	for _, r := range rows {
		cpu := r.median(func(m measurement) float64 { return m.CPUSeconds * 1000 / float64(m.Deliveries) })
		ratio := ""
		switch {
		case r.mode == "bare":
			base = cpu
		case r.mode == "deliver" && r.load.BodyBytes == 500:
			ratio = fmt.Sprintf("%.2f", cpu/base)
		}
		fmt.Printf("%-34s %12.0f %10.4f %7.0f%% %8.0f %9.3f %10.0f %7s\n", r.name,
			r.median(func(m measurement) float64 { return float64(m.Deliveries) / m.Seconds }), cpu, r.spread()*100,
			r.median(func(m measurement) float64 { return m.Allocs / float64(m.Deliveries) }), r.requests(),
			r.median(func(m measurement) float64 { return float64(m.PeakRSS) / (1 << 20) }), ratio)
	}
}

func (r *row) values(of func(measurement) float64) []float64 {
	var v []float64
	for _, m := range r.results {
		v = append(v, of(m))
	}
	slices.Sort(v)
	return v
}

func (r *row) median(of func(measurement) float64) float64 {
	v := r.values(of)
	return v[len(v)/2]
}

func (r *row) spread() float64 {
	v := r.values(func(m measurement) float64 { return m.CPUSeconds / float64(m.Deliveries) })
	return (v[len(v)-1] - v[0]) / v[len(v)/2]
}

// requests is the median of the AWS calls per delivery, warm-ups included on both sides.
func (r *row) requests() float64 {
	var totals []int
	for _, calls := range r.calls {
		total := 0
		for _, n := range calls {
			total += n
		}
		totals = append(totals, total)
	}
	slices.Sort(totals)
	return float64(totals[len(totals)/2]) / float64(r.load.Batch*(r.load.Invocations+warmups))
}
