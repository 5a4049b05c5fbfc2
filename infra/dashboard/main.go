// Command dashboard is `make dashboard`: it draws the stack's dashboard from the metrics of a local run.
//
// It promises to draw the widgets of template.yaml with the metrics that the functions wrote while the
// demonstration ran, and with queues as they were then. Widgets that only CloudWatch can fill stay empty, and say so.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/internal/testkit/alarms"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := draw(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func draw(ctx context.Context) error {
	widgets, err := readWidgets("template.yaml")
	if err != nil {
		return err
	}
	began := time.Now()
	data, err := run(ctx)
	if err != nil {
		return err
	}
	logs, err := filepath.Glob(".local/logs/*.log")
	if err != nil {
		return fmt.Errorf("finding logs: %w", err)
	}
	for _, name := range logs {
		if err := readLog(data, name); err != nil {
			return err
		}
	}
	const out = "infra/docs/dashboard.svg"
	picture := []byte(picture(widgets, data, began, time.Now()))
	if err := os.WriteFile(out, picture, 0o644); err != nil { //nolint:gosec // a picture for all
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

func readLog(data *alarms.Data, name string) error {
	log, err := os.Open(name) //nolint:gosec // the stack's own
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer log.Close()
	if err := data.ReadEMF(log); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// run lets the demonstration play and measures the queues meanwhile.
func run(ctx context.Context) (*alarms.Data, error) {
	const state = ".local/" + statefile.Name
	if err := os.Remove(state); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing the state of an earlier run: %w", err)
	}
	cmd := exec.CommandContext(ctx, ".local/bin/demo", "-once")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the demonstration: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	data := &alarms.Data{}
	for {
		select {
		case err := <-ended:
			if err != nil {
				return nil, fmt.Errorf("the demonstration failed: %w", err)
			}
			return data, nil
		case <-time.After(time.Second):
			if s, err := statefile.Read(state); err == nil { // it is there while the stack runs
				measure(ctx, s, data)
			}
		}
	}
}

// measure adds the depths of all queues. A queue that cannot be asked now is asked again in a second.
func measure(ctx context.Context, s statefile.State, data *alarms.Data) {
	queues := client.New(s).SQS
	for id, url := range s.Queues {
		out, err := queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
			},
		})
		if err != nil {
			return
		}
		for attribute, metric := range map[types.QueueAttributeName]string{
			types.QueueAttributeNameApproximateNumberOfMessages:           "ApproximateNumberOfMessagesVisible",
			types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: "ApproximateNumberOfMessagesNotVisible",
		} {
			n, err := strconv.ParseFloat(out.Attributes[string(attribute)], 64)
			if err == nil {
				data.Put(alarms.NewMetric("AWS/SQS", metric, map[string]string{"QueueName": id}), time.Now(), n)
			}
		}
	}
}
