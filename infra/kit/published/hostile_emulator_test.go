//go:build emulator

package published_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// offered is the size in bytes of a hostile body, far more than receiver and kernel buffer.
const offered = 32 << 20

// hostile is a request without a valid signature: its head after the first line and Host, and its body in parts, up to
// the first empty part.
type hostile struct {
	head string
	body func() []byte
}

// fate is the end of a hostile request.
type fate struct {
	Refused   bool // by a 4xx or the end of the connection
	Swallowed bool // all of it was accepted before
}

// send sends until all is sent or the receiver has ended the connection.
func (h hostile) send(s subject) (fate, error) {
	conn, err := net.Dial("tcp", s.URL.Host)
	if err != nil {
		return fate{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience.Limit()))
	status, ended := 0, make(chan error, 1)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			status = resp.StatusCode
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\n%s", s.URL.Host, h.head)
	all := false
	for err == nil && !all {
		part := h.body()
		_, err = conn.Write(part)
		all = len(part) == 0
	}
	if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
		return fate{}, errors.New("the receiver neither answered nor ended the connection")
	}
	return fate{status == 0 || status >= 400 && status < 500, all}, nil
}

// repeated is a body of so many times the same bytes.
func repeated(part string, times int) func() []byte {
	return func() []byte {
		if times--; times < 0 {
			return nil
		}
		return []byte(part)
	}
}

// dripping is a body of one byte every quarter of a second, or of none at all.
func dripping(part string) func() []byte {
	return func() []byte {
		time.Sleep(time.Second / 4)
		return []byte(part)
	}
}

func length(value string) hostile {
	part := strings.Repeat(" ", 1<<16)
	return hostile{"Content-Length: " + value + "\r\n\r\n", repeated(part, offered/len(part))}
}

// boundWhatTheyRead sends all of it at once, and the receiver goes on taking genuine deliveries.
func (s subject) boundWhatTheyRead(t *testing.T) {
	const chunked = "Transfer-Encoding: chunked\r\n\r\n"
	before := s.peak(t)
	endless := "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"
	requests := map[string]hostile{
		"endless chunks":              {chunked, repeated(endless, offered>>16)},
		"endless chunks and a length": {"Content-Length: 5\r\n" + chunked, repeated(endless, offered>>16)},
		"endless chunks of one byte":  {chunked, repeated(strings.Repeat("1\r\n \r\n", 1<<14), offered/6>>14)},
	}
	for _, l := range []string{
		"-1", "-9223372036854775808", "1048577", "1073741824", "9223372036854775807", "18446744073709551617", "many",
	} {
		for n := range 3 {
			requests[fmt.Sprintf("a length of %s, %d", l, n)] = length(l)
		}
	}
	var all sync.WaitGroup
	for name, h := range requests {
		all.Go(func() { s.wants(t, name, h, fate{Refused: true}) })
	}
	for n := range 8 {
		for name, h := range map[string]hostile{
			"a slow body":       {"Content-Length: 1000\r\n\r\n", dripping(" ")},
			"slow chunks":       {chunked, dripping("1\r\n \r\n")},
			"a slow header":     {"X-Slow: ", dripping("x")},
			"a missing end":     {"Content-Length: 1000\r\n\r\n ", repeated("", 0)},
			"a missing chunk":   {chunked + "1\r\n \r\n", repeated("", 0)},
			"an unended header": {"X-Slow: x\r\n", repeated("", 0)},
		} {
			missing := strings.HasPrefix(name, "a missing") || strings.HasPrefix(name, "an unended")
			all.Go(func() { s.wants(t, fmt.Sprintf("%s, %d", name, n), h, fate{Refused: true, Swallowed: missing}) })
		}
	}
	for n := range 20 {
		if got := s.post(t, genuine(fmt.Sprintf("msg_among_hostile_%d", n))); got != taken {
			t.Errorf("a genuine delivery was answered %v", got)
		}
	}
	all.Wait()
	s.manyChunks(t)
	if grown := s.peak(t) - before; grown > 64<<20 {
		t.Errorf("at its peak the receiver had %d MiB more than before", grown>>20)
	}
	s.expect(t, genuine("msg_afterwards"), 0, []answer{taken}, []answer{s.post(t, genuine("msg_afterwards_too"))})
}

func (s subject) wants(t *testing.T, name string, h hostile, want fate) {
	t.Helper()
	got, err := h.send(s)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if s.NoChunks != 0 && strings.Contains(name, "chunk") {
		want.Swallowed = want.Swallowed && got.Swallowed // it may be refused before its first byte
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// manyChunks sends a genuine delivery in a great many chunks of one byte. A receiver that copies its buffer for each
// chunk never finishes within its own limit for slow senders. A better receiver on a busy machine may need another
// attempt, as real deliveries have them.
func (s subject) manyChunks(t *testing.T) {
	t.Helper()
	d := signed("msg_chunks", body(`"`+strings.Repeat("y", 500_000)+`"`), time.Now())
	if s.NoChunks != 0 {
		if got := s.inChunks(t, d); got != s.NoChunks && got != 0 {
			t.Errorf("chunks were answered %d, want %d", got, s.NoChunks)
		}
		return
	}
	eventually(t, "many chunks to be taken", func() bool { return s.inChunks(t, d.again()) == http.StatusOK })
	if times := s.work(d); times != 1 {
		t.Errorf("many chunks were processed %d times", times)
	}
}

// inChunks sends the delivery in chunks of one byte and returns the answer's status, 0 for none.
func (s subject) inChunks(t *testing.T, d delivery) int {
	t.Helper()
	conn, err := net.Dial("tcp", s.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience.Limit()))
	var request bytes.Buffer
	fmt.Fprintf(&request, "POST / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n", s.URL.Host)
	fmt.Fprintf(&request, "wh-id: %s\r\nwh-timestamp: %s\r\nwh-signature: %s\r\n", d.id, d.stamp, d.signature)
	fmt.Fprintf(&request, "wh-webhook-event: %s\r\n\r\n", event)
	for i := range len(d.body) {
		request.WriteString("1\r\n" + d.body[i:i+1] + "\r\n")
	}
	request.WriteString("0\r\n\r\n")
	go func() { _, _ = conn.Write(request.Bytes()) }() // a refusal may end it
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// peak is how much memory the receiver has had at most.
func (s subject) peak(t *testing.T) (size int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(after, "%d kB", &size); err != nil {
		t.Fatal(err)
	}
	return size << 10
}
