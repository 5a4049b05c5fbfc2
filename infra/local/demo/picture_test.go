package main

import (
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
)

// Every widget of the template is drawn, with the metrics that a run had.
func TestPicture(t *testing.T) {
	all, err := readWidgets("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	begin, data := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), &alarms.Data{}
	deliver := map[string]string{"service": "deliver"}
	data.Put(alarms.NewMetric("Herald/local", "FirstAttemptSeconds", deliver), begin.Add(7*time.Second), 1, 2, 123)
	slow := map[string]string{"QueueName": "SlowQueue"}
	data.Put(alarms.NewMetric("AWS/SQS", "ApproximateNumberOfMessagesVisible", slow), begin, 4567)
	drawn := picture(all, data, begin, begin.Add(20*time.Second))
	for _, w := range all {
		if !strings.Contains(drawn, ">"+w.Title+"<") {
			t.Errorf("%s is not drawn", w.Title)
		}
	}
	for _, text := range []string{
		"up to 123", ">p99<", "up to 4,567", ">SlowQueue<", "on AWS only", "nothing in this run",
	} {
		if !strings.Contains(drawn, text) {
			t.Errorf("no %q in\n%s", text, drawn)
		}
	}
}
