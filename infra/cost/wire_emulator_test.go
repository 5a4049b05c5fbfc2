//go:build emulator

package cost

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wire stands between the handlers and the emulator. It counts the requests to SQS and KMS and takes the
// waits out of them, so that whoever waits can be received at once: the rig's clock moves instead.
type wire struct {
	t testing.TB

	mu    sync.Mutex
	calls map[string]int // by action: requests as SQS bills them, 64 KB each
	waits time.Duration  // the longest since it was last asked for
}

// emulator keeps as many connections as there are calls at a time.
var emulator = &http.Transport{MaxIdleConnsPerHost: 64}

func newWire(t testing.TB) *wire { return &wire{t: t, calls: map[string]int{}} }

// Do is aws.HTTPClient's. A call takes the time that it takes: what is given up is not what is counted.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	switch action {
	case "SendMessageBatch", "ChangeMessageVisibilityBatch":
		body = w.take(action, body)
	case "Decrypt", "Encrypt", "GenerateDataKey":
		w.count(action, 1)
	}
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return emulator.RoundTrip(r)
}

// take bills a call of SQS and returns it without its waits.
func (w *wire) take(action string, body []byte) []byte {
	var call struct {
		Entries []map[string]jsontext.Value
		Rest    map[string]jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		w.t.Errorf("%s: %v", action, err)
		return body
	}
	bytes := 0
	for _, entry := range call.Entries {
		for _, name := range []string{"DelaySeconds", "VisibilityTimeout"} {
			if value, ok := entry[name]; ok {
				w.wait(value)
				entry[name] = jsontext.Value("0")
			}
		}
		bytes += w.size(entry)
	}
	w.count(action, chunks(bytes))
	out, err := json.Marshal(&call)
	if err != nil {
		w.t.Errorf("%s: %v", action, err)
	}
	return out
}

// size is what SQS counts of a message: its body, and names, types and values of its attributes.
func (w *wire) size(entry map[string]jsontext.Value) (bytes int) {
	var message struct {
		MessageBody       string
		MessageAttributes map[string]struct{ DataType, StringValue string }
	}
	raw, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(raw, &message)
	}
	if err != nil {
		w.t.Errorf("reading a message: %v", err)
	}
	bytes = len(message.MessageBody)
	for name, a := range message.MessageAttributes {
		bytes += len(name) + len(a.DataType) + len(a.StringValue)
	}
	return bytes
}

func (w *wire) wait(value jsontext.Value) {
	var seconds int
	if err := json.Unmarshal(value, &seconds); err != nil {
		w.t.Errorf("reading a wait: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = max(w.waits, time.Duration(seconds)*time.Second)
}

// requests are those to SQS so far, as it bills them, and the calls of KMS.
func (w *wire) requests() (queues, keys int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for action, n := range w.calls {
		if strings.Contains(action, "Message") {
			queues += n
		} else {
			keys += n
		}
	}
	return queues, keys
}

func (w *wire) count(action string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[action] += n
}

// waited is the longest wait since it was last asked for.
func (w *wire) waited() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := w.waits
	w.waits = 0
	return longest
}
