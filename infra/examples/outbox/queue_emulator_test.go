//go:build emulator

package outbox_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// entry is a message as SendMessageBatch sends it.
type entry struct {
	ID                string `json:"Id"`
	MessageBody       string
	MessageGroupID    string `json:"MessageGroupId"`
	MessageAttributes map[string]struct{ StringValue string }
}

// queue is EventsQueue: what it took, by event id.
type queue struct {
	mu       sync.Mutex
	taken    map[string][]string // the wh-id that each send of an event has
	at       map[string]time.Time
	requests int
	fails    func(entry) string   // the code by which one entry fails, "" for success
	refuses  func([]entry) string // the code by which a request fails
}

func newQueue() *queue {
	return &queue{
		taken: map[string][]string{}, at: map[string]time.Time{},
		fails: func(entry) string { return "" }, refuses: func([]entry) string { return "" },
	}
}

// serve is the queue as one relay meets it. Where at says no, the connection ends there.
func (q *queue) serve(t *testing.T, at func(point string) bool) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Entries []entry }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return // a relay that was killed while it sent
		}
		if len(in.Entries) == 0 || len(in.Entries) > 10 {
			t.Errorf("a request of %d messages", len(in.Entries))
		}
		if !at("send: before") {
			panic(http.ErrAbortHandler)
		}
		status, answer := q.take(t, in.Entries)
		if !at("send: after") {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server
}

// take answers as SQS does.
func (q *queue) take(t *testing.T, entries []entry) (status int, answer map[string]any) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests++
	if code := q.refuses(entries); code != "" {
		return http.StatusBadRequest, map[string]any{"__type": "com.amazonaws.sqs#" + code, "message": code}
	}
	var taken, failed []any
	for _, one := range entries {
		if code := q.fails(one); code != "" {
			failed = append(failed, map[string]any{"Id": one.ID, "Code": code, "SenderFault": false})
			continue
		}
		sum := md5.Sum([]byte(one.MessageBody))
		taken = append(taken, map[string]any{"Id": one.ID, "MessageId": fmt.Sprint(q.requests, one.ID),
			"MD5OfMessageBody": hex.EncodeToString(sum[:])})
		decoded, err := event.Decode([]byte(one.MessageBody), "sent by its message id: "+fmt.Sprint(q.requests, one.ID))
		if err != nil || decoded.TenantID != one.MessageGroupID {
			t.Errorf("a message in the group %q: %v\n%.200s", one.MessageGroupID, err, one.MessageBody)
			continue
		}
		content := delivery.ContentOf(decoded.Payload())
		q.taken[decoded.ID] = append(q.taken[decoded.ID],
			delivery.ID(decoded.TenantID, decoded.ID, "webhook_1", content))
		if _, before := q.at[decoded.ID]; !before {
			q.at[decoded.ID] = time.Now()
		}
	}
	return http.StatusOK, map[string]any{"Successful": taken, "Failed": failed}
}
