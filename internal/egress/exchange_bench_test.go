package egress_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// What a POST of 1 KiB costs, 50 at a time over kept connections. Both sides run in this process,
// so compare the CPU time of a client with that of the receiver alone taken off: make bench has
// the ratio of the clients in processes of their own.
func BenchmarkExchange(b *testing.B) {
	ca, url := benchReceiver(b)
	client := egress.New(egress.Config{RootCAs: ca.Pool(), Policy: loopback()})
	b.Cleanup(client.Close)
	body := benchBody()
	benchmark(b, func() int {
		return client.Post(b.Context(), delivery.Request{
			TenantID: "tenant_1", URL: url, Body: body, Header: []delivery.Field{
				{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "Herald/bench"},
				{Name: "Wh-Id", Value: benchID}, {Name: "Wh-Timestamp", Value: "1764000000"},
				{Name: "Wh-Signature", Value: benchSignature}, {Name: "Wh-Webhook-Event", Value: "user.updated"},
			},
		}).Status
	})
}

// The same by net/http, tuned as well as it can be.
func BenchmarkTransport(b *testing.B) {
	ca, url := benchReceiver(b)
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 512, MaxIdleConnsPerHost: together, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca.Pool()},
	}}
	b.Cleanup(client.CloseIdleConnections)
	body := benchBody()
	benchmark(b, func() int {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			b.Error(err)
			return 0
		}
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "User-Agent": {"Herald/bench"}, "Wh-Id": {benchID},
			"Wh-Timestamp": {"1764000000"}, "Wh-Signature": {benchSignature}, "Wh-Webhook-Event": {"user.updated"},
		}
		res, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return 0
		}
		defer func() { _ = res.Body.Close() }()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Error(err)
		}
		return res.StatusCode
	})
}

const (
	benchID        = "msg_47d1a1b2c3d4e5f60718293a4b5c6d7e"
	benchSignature = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
)

func benchBody() []byte {
	return []byte(`{"type":"user.updated","data":"` + strings.Repeat("x", 1000) + `"}`)
}

func benchReceiver(b *testing.B) (*receivers.CA, string) {
	b.Helper()
	ca := receivers.NewCA(b)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(b, receivers.Leaf{})}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	b.Cleanup(server.Close)
	return ca, server.URL + "/hook"
}

// benchmark calls post from as many goroutines as a batch has deliveries.
func benchmark(b *testing.B, post func() int) {
	b.Helper()
	b.SetParallelism(together)
	var failed atomic.Int32
	b.ReportAllocs()
	before := cpuTime(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if post() != http.StatusNoContent {
				failed.Add(1)
			}
		}
	})
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
	if n := failed.Load(); n > 0 {
		b.Errorf("%d of %d POSTs failed", n, b.N)
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
