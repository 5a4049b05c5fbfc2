//go:build emulator

package dynamo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// metered is the store of what is parked.
type metered struct {
	t       *testing.T
	backlog *dynamo.Backlog
	meter   *testkit.Meter
}

func newMetered(t *testing.T) metered {
	t.Helper()
	cfg := testkit.Moto(t)
	m := metered{t: t, meter: testkit.NewMeter(t, cfg)}
	m.backlog = dynamo.NewBacklog(dynamodb.NewFromConfig(m.meter.Config()), testkit.Tables(t, cfg).Backlog)
	return m
}

// park puts the delivery into Backlog with a body that fills the kilobyte, and takes it out.
func (m metered) park(body int) {
	m.t.Helper()
	life := delivery.Life{StartedAt: at, DiesAt: at, OwnDue: at, Reason: delivery.ReasonHTTP5xx, Status: 503}
	ref := delivery.Ref{
		DeliveryID: delivery.ID("t", "e", "w", delivery.Content{}),
		EndpointID: "webhook_01ARZ3NDEKTSV4RRFFQ69G5FAV", CreatedAt: at,
		TenantID: "tenant_01ARZ3NDEKTSV4RRFFQ69G5FAV", EventID: "event_01ARZ3NDEKTSV4RRFFQ69G5FAV",
	}
	message := delivery.Message{Ref: ref, Body: bytes.Repeat([]byte("x"), body)}
	i := backlog.New(message, delivery.Next{Attempts: 4, Due: at, Life: life}, at, "random23")
	for _, errs := range [][]error{
		m.backlog.Put(m.t.Context(), []backlog.Item{i}), m.backlog.Delete(m.t.Context(), []backlog.Key{i.Key}),
	} {
		if errs[0] != nil {
			m.t.Fatal(errs[0])
		}
	}
}

// Four for every parking of 1 KB, and two for each further one. What whole lives cost is counted by
// infra/cost.
func TestWriteUnitsOfAParking(t *testing.T) {
	for name, row := range map[string]struct {
		live func(m metered)
		want map[string]int
	}{
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
