// Command restore takes back a table of a stack: it copies items from a copy of the table, as point-in-time recovery
// makes one, into the stack's own (infra/docs/recovery.md).
//
// It promises to write at a bounded rate, to count its items, to skip the items that an earlier run wrote, and to leave
// the stack's own items as they are unless it is told to overwrite them. It never deletes and never changes the copy.
// If it seals an item anew, the plaintext is in memory only, and only for a moment.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
)

// maxRate is DynamoDB's default quota of writes to a table, in units.
const maxRate = 40_000

// options are the user's.
type options struct {
	stack, table, from string
	tenant             string // "": all
	key                string // under which the copy is sealed; "": the stack's own
	rate               int    // items a second
	overwrite, dryRun  bool
}

func main() {
	var o options
	flag.StringVar(&o.stack, "stack", "", "name of the stack")
	flag.StringVar(&o.table, "table", "", "table to restore, as the template names it: "+known())
	flag.StringVar(&o.from, "from", "", "name of the copy")
	flag.StringVar(&o.tenant, "tenant", "", "tenant whose items alone are restored (default all)")
	flag.StringVar(&o.key, "key", "", "ARN of the KMS key of another stack under which the copy is sealed; "+
		"restored items are sealed anew, under the key of -stack")
	flag.IntVar(&o.rate, "rate", 100, "items to write per second, at most")
	flag.BoolVar(&o.overwrite, "overwrite", false, "also replace items that are different in the copy")
	flag.BoolVar(&o.dryRun, "dry-run", false, "count only, and write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "restore:", err)
		os.Exit(1)
	}
}

// run runs the whole restore of a table.
func run(ctx context.Context, o options) error {
	if err := o.complete(); err != nil {
		return err
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("loading the AWS configuration: %w", err)
	}
	r, err := open(ctx, cfg, o)
	if err != nil {
		return err
	}
	err = r.run(ctx)
	if o.dryRun {
		fmt.Print("dry run: ")
	}
	fmt.Printf("%s: %s\n", r.into, r.done)
	if err != nil && !o.dryRun {
		return fmt.Errorf("%w; the same command, run again, restores the rest", err)
	}
	return err
}

func (o options) complete() error {
	var faults []error
	for name, value := range map[string]string{"-stack": o.stack, "-table": o.table, "-from": o.from} {
		if value == "" {
			faults = append(faults, fmt.Errorf("%s is missing", name))
		}
	}
	plan, ok := plans[o.table]
	switch {
	case o.table == "":
	case !ok:
		faults = append(faults, fmt.Errorf("-table %s cannot be restored; these can: %s", o.table, known()))
	case o.overwrite && !plan.overwrite:
		faults = append(faults, fmt.Errorf("-overwrite: items of %s never change", o.table))
	case o.key != "" && plan.reseal == nil:
		faults = append(faults, fmt.Errorf("-key: nothing in %s is sealed", o.table))
	}
	if o.rate < 1 || o.rate > maxRate {
		faults = append(faults, fmt.Errorf("-rate %d is not between 1 and %d", o.rate, maxRate))
	}
	return errors.Join(faults...)
}
