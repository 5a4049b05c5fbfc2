package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// meter keeps the bound and writes metrics.
type meter struct {
	settings
	database string
	log      *slog.Logger
	counts   *counts
	out      io.Writer
}

// run writes a line at each interval until the context ends.
func (m meter) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := m.once(ctx); err != nil && ctx.Err() == nil {
			m.log.Error("meter", "error", err.Error())
		}
		select {
		case <-time.After(m.measure):
		case <-ctx.Done():
		}
	}
}

// once keeps the bound and writes a line in CloudWatch's embedded metric format. A relay that cannot reach its database
// writes none, so an alarm has to take missing data as bad.
func (m meter) once(ctx context.Context) error {
	db, err := open(ctx, m.database, false)
	if err != nil {
		return err
	}
	defer db.close()
	w, err := db.measure(ctx, m.most)
	if err != nil {
		return err
	}
	values := map[string]any{
		"Waiting": w.rows, "OldestSeconds": w.oldest, "SetAside": w.refused, "Sent": m.counts.sent.Swap(0),
		"Refused": m.counts.refused.Swap(0), "Errors": m.counts.errors.Swap(0),
	}
	var metrics []map[string]string
	for name := range values {
		metrics = append(metrics, map[string]string{"Name": name})
	}
	values["_aws"] = map[string]any{
		"Timestamp": time.Now().UnixMilli(),
		"CloudWatchMetrics": []any{
			map[string]any{"Namespace": "Outbox", "Dimensions": [][]string{{}}, "Metrics": metrics},
		},
	}
	line, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("encoding metrics: %w", err)
	}
	_, err = fmt.Fprintf(m.out, "%s\n", line)
	return err
}
