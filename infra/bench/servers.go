package main

import (
	"crypto/md5" //nolint:gosec // the checksum of the SQS protocol
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// receiverBody is what the receiver answers under /big.
const receiverBody = 1 << 20

// receive is the HTTPS receiver: 204 at once, or 200 and 1 MiB under /big. It speaks HTTP/1.1.
func receive(certFile, keyFile string) error {
	big := make([]byte, receiverBody)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return // the client went away
		}
		if r.URL.Path != "/big" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write(big) // the client reads 64 KiB of it
	})
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("loading the certificate: %w", err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return serve(&http.Server{
		Handler: handler, Protocols: &protocols, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}},
	})
}

// serve listens on a free loopback port, prints it and serves until the parent goes away.
func serve(server *http.Server) error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		_ = server.Close()
	}()
	if server.TLSConfig != nil {
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// fakeAWS answers the few calls of the handlers over the wire protocol, as fast as it can:
// AWS's own time is not what is measured.
type fakeAWS struct {
	receiver string // base URL
	mu       sync.Mutex
	calls    map[string]int
}

func answerAWS(receiver string) error {
	f := &fakeAWS{receiver: receiver, calls: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /calls", f.report)
	mux.HandleFunc("POST /", f.answer)
	return serve(&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute})
}

// report writes the calls counted since the last report.
func (f *fakeAWS) report(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := json.NewEncoder(w).Encode(f.calls); err != nil {
		log.Print(err)
	}
	f.calls = map[string]int{}
}

func (f *fakeAWS) answer(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	f.mu.Lock()
	f.calls[action]++
	f.mu.Unlock()
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := f.result(action, in)
	if out == nil {
		http.Error(w, `{"__type":"UnknownOperationException"}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		log.Print(err)
	}
}

type attribute = map[string]any

// request is the union of the inputs that matter for an answer.
type request struct {
	RequestItems              map[string]any
	ExpressionAttributeValues map[string]attribute
	Entries                   []struct{ Id, MessageBody string }
}

func (f *fakeAWS) result(action string, in request) any {
	switch action {
	case "BatchWriteItem":
		return map[string]any{"UnprocessedItems": map[string]any{}}
	case "PutItem", "UpdateItem":
		return map[string]any{}
	case "Decrypt":
		return map[string]any{"Plaintext": base64.StdEncoding.EncodeToString([]byte(secret)), "KeyId": "key"}
	case "BatchGetItem":
		return f.endpoints(in)
	case "Query":
		return f.query()
	case "SendMessageBatch":
		return taken(in)
	case "ChangeMessageVisibilityBatch":
		var ids []map[string]string
		for _, e := range in.Entries {
			ids = append(ids, map[string]string{"Id": e.Id})
		}
		return map[string]any{"Successful": ids, "Failed": []any{}}
	default:
		return nil
	}
}

func taken(in request) any {
	var entries []map[string]string
	for _, e := range in.Entries {
		sum := md5.Sum([]byte(e.MessageBody)) //nolint:gosec // the checksum of the SQS protocol
		entries = append(entries, map[string]string{"Id": e.Id, "MessageId": e.Id,
			"MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	return map[string]any{"Successful": entries, "Failed": []any{}}
}
