// Command bench measures what a delivery costs: CPU time, allocations, memory and AWS requests
// of the real fanout and deliver handlers, each in a process of its own, and of the HTTP client
// alone. Right before each of these processes a bare net/http client runs under the same conditions:
// what is printed is the median of the ratios of such pairs, which holds on a machine that does other
// work, too. AWS and the receiver run in other processes; AWS only answers the wire protocol. Compare
// ratios, never times between machines.
//
//	go run ./infra/bench [-rounds 9] [-deliveries 20000] [-rows 'deliver, 50'] [-profiles DIR] [-mix 1m]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// modes are what a child process measures.
var modes = map[string]func(workload) (measurement, error){
	"deliver": deliver, "fanout": fanOut, "exchange": exchange, "bare": bare,
}

// run is the driver, or one of its child processes when the first argument names one.
func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "receiver":
			return receive(args[1], args[2])
		case "aws":
			return answerAWS(args[1])
		}
		if measure, ok := modes[args[0]]; ok {
			return inChild(args[1], measure)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var o options
	flags.IntVar(&o.rounds, "rounds", 9, "runs of each measurement; medians are printed")
	flags.IntVar(&o.deliveries, "deliveries", 20_000, "deliveries of one run")
	flags.StringVar(&o.rows, "rows", "", "regular expression: measure only the rows whose names it matches")
	flags.StringVar(&o.profiles, "profiles", "",
		"folder for a CPU profile of each row's last run; profiled rows cost more")
	phase := flags.Duration("mix", time.Minute, "length of each phase of the mix; 0 leaves it out")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.rounds > 0 {
		if err := drive(o); err != nil {
			return err
		}
	}
	if *phase == 0 {
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return mix(ctx, *phase)
}

// workload is what a measuring process is asked for.
type workload struct {
	Batch       int    // records of one invocation; concurrency of the bare client
	Invocations int    // measured ones; warmups come before
	BodyBytes   int    // of one delivery
	Endpoints   int    // distinct ones of a batch
	Receiver    string // URL of the receiver's endpoint
	CAFile      string
	AWS         string // base URL of the AWS endpoint
	Profile     string // file for a CPU profile; "": none
}

// options say what is measured.
type options struct {
	rounds, deliveries int
	rows               string // regular expression
	profiles           string // folder; "": none
}

// warmups is how many invocations precede the measurement: connections, caches, heap.
const warmups = 3

// inChild runs one measurement and prints it.
func inChild(argument string, measure func(workload) (measurement, error)) error {
	var in workload
	if err := json.Unmarshal([]byte(argument), &in); err != nil {
		return fmt.Errorf("reading the workload: %w", err)
	}
	out, err := measure(in)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
