// Command bench measures what a delivery costs: CPU time, allocations, memory and AWS requests
// of the real fanout and deliver handlers, each in a process of its own, beside a bare net/http
// client under the same conditions. AWS and the receiver run in other processes; AWS only
// answers the wire protocol. Compare ratios within one run, never times between machines.
//
//	go run ./infra/bench [-rounds 5] [-deliveries 20000] [-mix 1m]
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

// run is the driver, or one of its child processes when the first argument names one.
func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "receiver":
			return receive(args[1], args[2], args[3])
		case "aws":
			return answerAWS(args[1])
		case "deliver":
			return inChild(args[1], deliver)
		case "fanout":
			return inChild(args[1], fanOut)
		case "bare":
			return inChild(args[1], bare)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "runs of each measurement; medians are printed")
	deliveries := flags.Int("deliveries", 20_000, "deliveries of one run")
	phase := flags.Duration("mix", time.Minute, "length of each phase of the mix; 0 leaves it out")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds > 0 {
		if err := drive(*rounds, *deliveries); err != nil {
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
}

// warmups is how many invocations precede the measurement: connections, caches, heap.
const warmups = 3

// measurement is what it found, per process.
type measurement struct {
	Deliveries int
	Seconds    float64
	CPUSeconds float64 // user and system
	Allocs     float64 // objects
	PeakRSS    int64   // bytes
}

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
