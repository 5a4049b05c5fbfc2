// Command incident is `make incident`: it gives a running local stack an incident to practise on. Three tenants have
// ten endpoints. Some of these are down, slow or flapping, or answer 400. 1,200 deliveries are dead, and 13 events are
// rejected.
//
// It promises the same incident for the same seed. Endpoints and their traffic are real. Dead letters and unprocessed
// events are put on their queues directly, as deliver and SQS's redrive would: to use up a thousand schedules would
// take the local stack a quarter of an hour. The command runs until Ctrl-C, since its receivers answer replays.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "incident:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	path := flag.String("state", ".local/"+statefile.Name, "the state file of a running stack")
	seed := flag.Uint64("seed", 1, "which incident; a stack has each only once")
	letters := flag.Int("letters", 1200, "dead letters")
	once := flag.Bool("once", false, "end as soon as the incident is there")
	flag.Parse()
	state, err := statefile.Read(*path)
	if err != nil {
		return fmt.Errorf("no local stack runs here, start one with make stack: %w", err)
	}
	i := incident{plan: newPlan(*seed, *letters), client: client.New(state)}
	defer func() {
		for _, p := range i.parties {
			err = errors.Join(err, p.server.Close())
		}
	}()
	fmt.Printf("Making the incident of seed %d\n", *seed)
	for _, step := range []func(context.Context) error{i.register, i.traffic, i.reject, i.bury, i.awaitDeaths} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	fmt.Println("There it is: on AWS, DeathsAlarm and RejectedEventsAlarm would be on now.")
	fmt.Println("Begin with: .local/bin/herald --local status")
	if !*once {
		fmt.Println("The receivers answer until Ctrl-C.")
		<-ctx.Done()
	}
	return nil
}
