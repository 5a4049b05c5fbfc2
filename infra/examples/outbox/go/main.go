// Command relay publishes the events of the table outbox to Herald's EventsQueue. Several may run at once.
//
//	DATABASE_URL=postgres://… EVENTS_QUEUE_URL=https://sqs.… go run .
//
// AWS's SDK finds region and credentials as it always does. The relay ends after SIGTERM, when what it has claimed is
// sent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"herald.example/relay/publish"
)

func main() {
	var s settings
	workers := flag.Int("workers", 4, "connections, each of which publishes by itself")
	flag.IntVar(&s.batch, "batch", 100, "rows of a claim, of at most 256 KiB each")
	flag.DurationVar(&s.lease, "lease", 30*time.Second, "after which a dead relay's rows are claimed again, at most 5m")
	flag.DurationVar(&s.poll, "poll", time.Second, "between claims, while no NOTIFY comes")
	flag.DurationVar(&s.measure, "measure", 10*time.Second, "between lines with metrics")
	flag.Int64Var(&s.most, "most", 1_000_000, "events that may wait or be set aside; further inserts fail")
	flag.Parse()
	if err := run(s, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

// run works until a signal comes.
func run(s settings, workers int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	database := os.Getenv("DATABASE_URL")
	queue := os.Getenv("EVENTS_QUEUE_URL")
	if database == "" || queue == "" || workers < 1 || s.batch < 1 || s.lease > 5*time.Minute {
		return errors.New("DATABASE_URL and EVENTS_QUEUE_URL are needed, a worker, a batch, and a lease of at most 5m")
	}
	aws, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("reading AWS's configuration: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	counts := &counts{}
	var all sync.WaitGroup
	for range workers {
		r := relay{
			settings: s, database: database, log: log, counts: counts, size: s.batch,
			publisher: publish.Publisher{Client: sqs.NewFromConfig(aws), QueueURL: queue},
		}
		all.Go(func() { r.run(ctx) })
	}
	m := meter{settings: s, database: database, log: log, counts: counts, out: os.Stdout}
	all.Go(func() { m.run(ctx) })
	all.Wait()
	return nil
}
