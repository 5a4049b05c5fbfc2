package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/client"
)

// draw plays the demonstration and draws the widgets of template.yaml from it: from the metrics that the functions
// wrote, and from the lengths of the queues during it. Widgets that only CloudWatch can fill stay empty, and say so.
func (d *demo) draw(ctx context.Context, file string) (ok bool, err error) {
	widgets, err := readWidgets("template.yaml")
	if err != nil {
		return false, err
	}
	began, data := time.Now(), &alarms.Data{}
	playing, stop := context.WithCancel(ctx)
	var measuring sync.WaitGroup
	measuring.Go(func() {
		for client.Pause(playing, time.Second) {
			d.measure(playing, data)
		}
	})
	ok, err = d.play(ctx)
	stop()
	measuring.Wait()
	if err != nil || !ok {
		return ok, err
	}
	logs, err := filepath.Glob(".local/logs/*.log")
	if err != nil {
		return false, fmt.Errorf("finding logs: %w", err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name) //nolint:gosec // the stack's own
		if err == nil {
			err = data.ReadEMF(bytes.NewReader(text))
		}
		if err != nil {
			return false, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	svg := []byte(picture(widgets, data, began, time.Now()))
	if err := os.WriteFile(file, svg, 0o644); err != nil { //nolint:gosec // a picture for all
		return false, fmt.Errorf("writing the picture: %w", err)
	}
	return true, nil
}

// depths are the metrics of a queue's attributes.
var depths = map[types.QueueAttributeName]string{
	types.QueueAttributeNameApproximateNumberOfMessages:           "ApproximateNumberOfMessagesVisible",
	types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: "ApproximateNumberOfMessagesNotVisible",
}

// measure adds the depths of all queues. A queue that cannot be asked now is asked again in a second.
func (d *demo) measure(ctx context.Context, data *alarms.Data) {
	for id, url := range d.client.Queues {
		out, err := d.client.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
		})
		if err != nil {
			return
		}
		for attribute, metric := range depths {
			if n, err := strconv.ParseFloat(out.Attributes[string(attribute)], 64); err == nil {
				data.Put(alarms.NewMetric("AWS/SQS", metric, map[string]string{"QueueName": id}), time.Now(), n)
			}
		}
	}
}
