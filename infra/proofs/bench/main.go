// Command bench measures the cost of a delivery, to notice a loss of speed: CPU time and AWS requests of the handlers
// of fanout and deliver, each in its own process.
//
// A bare net/http client runs under the same conditions right before each of these processes. The result is the median
// of the ratios of such pairs: a ratio holds even on a machine that does other work. AWS and the receiver run in the
// program that starts these processes. This AWS only answers the wire protocol.
//
// A row is a process of deliver or fanout that is given recorded SQS invocations of 50, 10 or 1 messages. The bare
// client is one tuned net/http transport that POSTs the same signed bodies over the same TLS. On 2 cores (amd64),
// Go 1.27.4, with bodies of 500 bytes and one endpoint:
//
//	             × bare   CPU ms   AWS requests
//	deliver, 50    2.44    0.040           0.06
//	deliver, 10    4.36    0.070           0.20
//	deliver, 1    11.58    0.400           2.00
//	fanout, 50     1.80    0.029           0.12
//	fanout, 10     2.97    0.048           0.20
//	fanout, 1      9.29    0.334           2.00
//
// Most of the difference is the SDK's own clients (infra/decisions/0019-the-sdks-own-clients.md).
//
// It never compares times between machines, and it never leaves loopback.
//
//	go run ./infra/proofs/bench [-rounds 9] [-deliveries 20000] [-rows 'deliver, 50']
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// modes are the measurements of the processes.
var modes = map[string]func(workload) (measurement, error){
	"deliver": deliver, "fanout": fanOut, "bare": bare,
}

// run is the driver, or one of its processes when the first argument names a mode.
func run(args []string) error {
	if len(args) == 2 {
		if measure, ok := modes[args[0]]; ok {
			return inProcess(args[1], measure)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var o options
	flags.IntVar(&o.rounds, "rounds", 9, "runs of each measurement; medians are printed")
	flags.IntVar(&o.deliveries, "deliveries", 20_000, "deliveries of one run")
	flags.StringVar(&o.rows, "rows", "", "regular expression: measure only the rows whose names it matches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return drive(o)
}

// options choose the measurements.
type options struct {
	rounds, deliveries int
	rows               string // regular expression
}

// workload is the task of a measuring process.
type workload struct {
	Batch       int    // records of one invocation; concurrency of the bare client
	Invocations int    // measured ones; warmups come before
	Receiver    string // its URL
	AWS         string // base URL of the AWS endpoint
}

// warmups is how many invocations precede the measurement: connections, caches, heap.
const warmups = 3

// inProcess runs one measurement and prints it to standard error: standard output has the log.
func inProcess(argument string, measure func(workload) (measurement, error)) error {
	var in workload
	if err := json.Unmarshal([]byte(argument), &in); err != nil {
		return fmt.Errorf("reading the workload: %w", err)
	}
	out, err := measure(in)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stderr).Encode(out)
}
