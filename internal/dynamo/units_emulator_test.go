//go:build emulator

package dynamo_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// metered are the stores that deliver and deadletter write to.
type metered struct {
	t           *testing.T
	deliveries  *dynamo.Deliveries
	deadLetters *dynamo.DeadLetters
	backlog     *dynamo.Backlog
	meter       *testkit.Meter
	tables      testkit.TableNames
}

func newMetered(t *testing.T) metered {
	t.Helper()
	cfg := testkit.Moto(t)
	m := metered{t: t, meter: testkit.NewMeter(t, cfg), tables: testkit.Tables(t, cfg)}
	client := dynamodb.NewFromConfig(m.meter.Config())
	m.deliveries = dynamo.NewDeliveries(client, m.tables.Deliveries)
	m.deadLetters = dynamo.NewDeadLetters(client, m.tables.DeadLetters)
	m.backlog = dynamo.NewBacklog(client, m.tables.Backlog)
	return m
}

// lifelike is a state with identifiers as long as they are.
func lifelike(s delivery.State, attempts int) delivery.Record {
	r := state(delivery.ID("t", "e", "w", delivery.Content{}), s, 0, attempts)
	r.EndpointID = "webhook_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	r.TenantID, r.EventID = "tenant_01ARZ3NDEKTSV4RRFFQ69G5FAV", "event_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	r.EventType = "organization.delivery_channels.updated"
	r.UpdatedAt = at.Add(time.Duration(attempts) * time.Hour)
	return r
}

// park puts the delivery into Backlog with a body that fills the kilobyte, and takes it out.
func (m metered) park(body int) {
	m.t.Helper()
	life := delivery.Life{StartedAt: at, DiesAt: at, OwnDue: at, Reason: delivery.ReasonHTTP5xx, Status: 503}
	message := delivery.Message{Ref: lifelike(delivery.Retrying, 1).Ref, Body: bytes.Repeat([]byte("x"), body)}
	i := backlog.New(message, delivery.Next{Attempts: 4, Due: at, Life: life}, at, "random23")
	for _, errs := range [][]error{
		m.backlog.Put(m.t.Context(), []backlog.Item{i}), m.backlog.Delete(m.t.Context(), []backlog.Key{i.Key}),
	} {
		if errs[0] != nil {
			m.t.Fatal(errs[0])
		}
	}
}

func (m metered) acknowledge() {
	m.t.Helper()
	if err := m.deliveries.Acknowledge(m.t.Context(), []delivery.Record{lifelike(delivery.Acknowledged, 1)}); err != nil {
		m.t.Fatal(err)
	}
}

// 1 for a first-time success, at most 4 for one that fails once and succeeds, at most 20 for
// one that dies after ten attempts, and four for every parking of 1 KB.
func TestWriteUnitsOfADelivery(t *testing.T) {
	for name, row := range map[string]struct {
		live func(m metered)
		want map[string]int
	}{
		"delivered at once": {
			func(m metered) { m.acknowledge() },
			map[string]int{"Deliveries": 1},
		},
		"fails once and succeeds": {
			func(m metered) {
				update(m.t, m.deliveries, lifelike(delivery.Retrying, 1))
				m.acknowledge()
			},
			map[string]int{"Deliveries": 2, "Deliveries/open-by-endpoint": 2},
		},
		"dies after ten attempts": {
			func(m metered) {
				for attempt := range 9 {
					update(m.t, m.deliveries, lifelike(delivery.Retrying, attempt+1))
				}
				dead := death(lifelike(delivery.Dead, 10).DeliveryID, "webhook_01ARZ3NDEKTSV4RRFFQ69G5FAV", 0, at)
				dead.Sealed.Body = make([]byte, 600)
				dead.Sealed.History[0].Sealed = make([]byte, 300)
				create(m.t, m.deadLetters, dead)
				update(m.t, m.deliveries, lifelike(delivery.Dead, 10))
			},
			map[string]int{
				"Deliveries": 10, "Deliveries/open-by-endpoint": 1,
				"DeadLetters": 2, "DeadLetters/by-endpoint": 1, "DeadLetters/by-status": 1,
			},
		},
		"waits in Backlog": {
			func(m metered) { m.park(500) },
			map[string]int{"Backlog": 2, "Backlog/by-due": 2},
		},
		"waits in Backlog with 1 KB more": {
			func(m metered) { m.park(1524) },
			map[string]int{"Backlog": 4, "Backlog/by-due": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMetered(t)
			row.live(m)
			got := map[string]int{}
			for name, units := range m.meter.Units() {
				table, index, _ := strings.Cut(name, "/")
				logical, _, _ := strings.Cut(table, "-")
				got[strings.TrimSuffix(logical+"/"+index, "/")] = units
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
