//go:build emulator

package cost

import (
	"strings"
	"testing"

	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/health"
)

// logical leaves the test's own suffix out of the names of tables and indexes.
func logical[N int | float64](units map[string]N) map[string]N {
	all := map[string]N{}
	for name, n := range units {
		table, index, _ := strings.Cut(name, "/")
		table, _, _ = strings.Cut(table, "-")
		all[strings.TrimSuffix(table+"/"+index, "/")] = n
	}
	return all
}

// Write units of whole lives through fanout, deliver, release and deadletter, until nothing is left of
// them that a write has to remove. At most 1, 4, and 20 beside four for each parking of 1 KB.
func TestWriteUnitsOfALife(t *testing.T) {
	for name, row := range map[string]struct {
		fails, posts int
		want         map[string]int
		total        int // without Backlog
	}{
		"delivered at once":       {0, 1, map[string]int{"Deliveries": 1}, 1},
		"fails once and succeeds": {1, 2, map[string]int{"Deliveries": 2, "Deliveries/open-by-endpoint": 2}, 4},
		"dies after ten attempts": {10, 10, map[string]int{
			"Deliveries": 11, "Deliveries/open-by-endpoint": 1, "EndpointHealth": 4,
			"DeadLetters": 2, "DeadLetters/by-endpoint": 1, "DeadLetters/by-status": 1,
			"Backlog": 6 * 2, "Backlog/by-due": 6 * 2, // six waits are long
		}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{batch: 10})
			r.subscribe(0, 0)
			r.fanOut([]sqstypes.Message{r.event(0, row.fails)})
			r.live()
			r.now = r.now.Add(health.Default().Forget)
			r.tick()
			got, total := logical(r.meter.Units()), 0
			for name, units := range got {
				if !strings.HasPrefix(name, "Backlog") {
					total += units
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" || total > row.total {
				t.Errorf("%d units without Backlog (-want +got)\n%s", total, diff)
			}
			if posts := len(r.receiver.Requests()); posts != row.posts {
				t.Errorf("%d POSTs, want %d", posts, row.posts)
			}
		})
	}
}
