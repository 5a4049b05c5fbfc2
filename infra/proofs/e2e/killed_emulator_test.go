//go:build emulator

package e2e

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestADeliveryWhoseProcessIsKilledComesBackWithTheSameID(t *testing.T) {
	c := tenant(t) // not parallel until the kill, so that it hits no other test's deliveries
	s := subscribe(t, c, "*")
	arrived, release := make(chan string, 16), make(chan struct{})
	genuineHandler := s.Handler()
	if err := s.Verify(s.SigningSecret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case arrived <- r.Header.Get("wh-id"):
			select {
			case <-release:
			case <-r.Context().Done():
			}
		default:
		}
		genuineHandler.ServeHTTP(w, r)
	})); err != nil {
		t.Fatal(err)
	}
	publish(t, c, "user.created")
	publish(t, c, "user.updated")
	held := <-arrived
	pids, err := functionProcesses("deliver")
	if err != nil || len(pids) == 0 {
		t.Fatalf("deliver's processes: %v, %v", pids, err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Logf("process %d: %v", pid, err)
		}
	}
	close(release)
	killed := time.Now()
	t.Parallel()

	eventually(t, "both events, the held one after the kill", func(context.Context) (bool, error) {
		events, again := map[string]bool{}, false
		for _, r := range s.Requests() {
			events[r.Event] = events[r.Event] || r.Status == http.StatusOK
			again = again || r.ID == held && r.At.After(killed) && r.Status == http.StatusOK
		}
		return again && events["user.created"] && events["user.updated"], nil
	})
	genuine(t, s.Requests())
	byEvent := map[string]string{}
	for _, r := range s.Requests() {
		if id, known := byEvent[r.Event]; known && id != r.ID {
			t.Errorf("%s came under two ids, %s and %s", r.Event, id, r.ID)
		}
		byEvent[r.Event] = r.ID
	}
}

// A stopped process takes a batch and does nothing with it: killed then, it leaves the batch
// unfinished for certain.
func TestBatchesOfKilledFanoutAndDeadletterComeBack(t *testing.T) {
	c := tenant(t) // not parallel until the kill, so that it hits no other test's batches
	s, dying := subscribe(t, c, "user.*"), subscribe(t, c, "organization.*")
	both := append(stopped(t, "deadletter"), stopped(t, "fanout")...)
	publish(t, c, "user.updated")
	id := bury(t, c, dying)
	eventually(t, "batches of the stopped processes", func(ctx context.Context) (bool, error) {
		summary, err := ask(ctx, api.GetSummary, api.SummaryRequest{})
		return summary.Queues["EventsQueue"].InFlight > 0 && summary.Queues["DeadLetterQueue"].InFlight > 0, err
	})
	if got := s.Requests(); len(got) != 0 {
		t.Fatalf("a stopped fanout delivered %d", len(got))
	}
	if letters, err := operator.DeadLetters(t.Context(), dying.ID); err != nil || len(letters) != 0 {
		t.Fatalf("a stopped deadletter sealed %v, %v", letters, err)
	}
	signal(t, both, syscall.SIGKILL)
	t.Parallel()

	if got := s.await(t, 1); !sameDelivery(got) {
		t.Errorf("one event came under several ids: %+v", got)
	}
	genuine(t, s.Requests())
	if letter := dying.death(t); letter.DeliveryID != id {
		t.Errorf("dead letter %+v, want that of %s", letter, id)
	}
}

// bury sends a delivery to DeadLetterQueue as deliver does after the last attempt. The attempts themselves would take
// half a minute.
func bury(t *testing.T, c *client.Client, s subscription) (deliveryID string) {
	t.Helper()
	m := delivery.Message{Attempts: 6, Body: []byte(`{"type":"organization.created","data":{}}`)}
	m.TenantID, m.EndpointID, m.EventID, m.CreatedAt = c.TenantID, s.ID, unique("evt"), time.Now()
	m.DeliveryID = delivery.ID(m.TenantID, m.EventID, m.EndpointID, delivery.ContentOf(m.Body))
	m.Life = delivery.Life{StartedAt: m.CreatedAt, Reason: delivery.StatusReason(500), Status: 500}
	to := queue.Sender{Client: operator.SQS, URL: operator.Queues["DeadLetterQueue"]}
	if err := errors.Join(to.Send(t.Context(), []queue.Outgoing{queue.Of(m, 0)})...); err != nil {
		t.Fatal(err)
	}
	return m.DeliveryID
}

// stopped starts a function with an empty batch and stops its processes.
func stopped(t *testing.T, function string) []int {
	t.Helper()
	if _, err := operator.Invoke(t.Context(), api.Function(function), []byte(`{"Records":[]}`)); err != nil {
		t.Fatal(err)
	}
	pids, err := functionProcesses(function)
	if err != nil || len(pids) == 0 {
		t.Fatalf("processes of %s: %v, %v", function, pids, err)
	}
	signal(t, pids, syscall.SIGSTOP)
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT) // gone already, unless the test gave up
		}
	})
	return pids
}

func signal(t *testing.T, pids []int, number syscall.Signal) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, number); err != nil {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

// functionProcesses finds the processes of a function of the stack, by the CA file in their environment.
func functionProcesses(function string) (ids []int, err error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		path, _ := os.Readlink(filepath.Join(folder, "exe")) // none where it has gone, nor an environment
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if strings.HasSuffix(path, filepath.Join(function, "bootstrap")) &&
			strings.Contains(string(environment), "SSL_CERT_FILE="+operator.CAFile+"\x00") {
			id, _ := strconv.Atoi(filepath.Base(folder)) // all digits
			ids = append(ids, id)
		}
	}
	return ids, err
}
