package egress_test

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// flooder speaks HTTP/2 and sends frames that mean nothing for as long as it may, before its
// answer or after it.
type flooder struct {
	url  string
	mu   sync.Mutex
	sent int           // bytes of frames
	cut  chan struct{} // one value for each connection that took no more
}

func newFlooder(t *testing.T, ca *receivers.CA, answers bool) *flooder {
	t.Helper()
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
		Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &flooder{url: "https://" + listener.Addr().String(), cut: make(chan struct{}, 16)}
	var serving sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { f.serve(conn, answers) })
		}
	})
	return f
}

func (f *flooder) serve(conn net.Conn, answers bool) {
	defer func() { _ = conn.Close() }()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // or its window would stop us, not the client
	if answers {
		var block writer
		_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "204"})
		head := http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true}
		if err := framer.WriteHeaders(head); err != nil {
			return
		}
	}
	payload := make([]byte, 1000)
	_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
	for {
		if err := framer.WriteRawFrame(0xbb, 0, 0, payload); err != nil {
			f.cut <- struct{}{}
			return
		}
		f.mu.Lock()
		f.sent += len(payload)
		f.mu.Unlock()
	}
}

type writer []byte

func (w *writer) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }

// What the kernel's buffers take on loopback comes on top of what the client reads.
const mostFlooded = 16 << 20

func TestClient_Post_cutsOffAReceiverThatNeverStopsSending(t *testing.T) {
	for name, row := range map[string]struct {
		answers bool
		want    delivery.Response
	}{
		"after its 2xx":     {true, delivery.Response{Status: http.StatusNoContent}},
		"without an answer": {false, delivery.Response{Reason: delivery.ReasonProtocol}},
	} {
		t.Run(name, func(t *testing.T) {
			log.SetOutput(io.Discard) // as the function does: net/http has a line for each frame
			t.Cleanup(func() { log.SetOutput(os.Stderr) })
			ca := receivers.NewCA(t)
			f := newFlooder(t, ca, row.answers)
			client := egress.New(egress.Config{RootCAs: ca.Pool(), Policy: loopback(), AttemptTimeout: 10 * time.Second})
			defer client.Close()
			got := client.Post(t.Context(), to(f.url))
			checkResponse(t, "the flood", row.want, got)
			<-f.cut
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.sent > mostFlooded {
				t.Errorf("%d bytes were taken", f.sent)
			}
			// The others' deliveries, and the next one there, go on.
			healthy := receivers.New(t, ca, nil)
			got = client.Post(t.Context(), to(healthy.URL))
			checkResponse(t, "the next POST", delivery.Response{Status: http.StatusNoContent}, got)
		})
	}
}

// Fifty large answers at once from one address are no flood, whatever the protocol.
func TestClient_Post_readsLargeAnswersFromManyConnections(t *testing.T) {
	ca := receivers.NewCA(t)
	large := make([]byte, 1<<20)
	receiver := receivers.New(t, ca, func(w http.ResponseWriter, _ receivers.Request) { _, _ = w.Write(large) })
	client := egress.New(egress.Config{RootCAs: ca.Pool(), Policy: loopback(), AttemptTimeout: 20 * time.Second})
	defer client.Close()
	for range 3 {
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				got := client.Post(t.Context(), to(receiver.URL))
				checkResponse(t, "a large answer", delivery.Response{Status: http.StatusOK}, got)
			})
		}
		wait.Wait()
	}
	if n := len(receiver.Requests()); n != 150 {
		t.Errorf("%d requests for 150 POSTs", n)
	}
}
