package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/herald-webhooks/herald/internal/signature"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// bare is what a POST costs at the least: net/http, one tuned transport, kept connections, the
// same body, signature, headers, TLS and concurrency, and nothing else.
func bare(in workload) (measurement, error) {
	roots, err := pki.ReadPool(in.CAFile)
	if err != nil {
		return measurement{}, err
	}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 512, MaxIdleConnsPerHost: in.Batch, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}}
	return posts(in, func(id string, body []byte) error { return postOnce(client, in.Receiver, id, body) })
}

// posts measures post, called by as many goroutines as the workload's batch has records, over and
// over and without a pause between two batches.
func posts(in workload, post func(id string, body []byte) error) (measurement, error) {
	body := deliveryBody(in.BodyBytes)
	ids := make([]string, in.Batch) // made beforehand, as the handler finds them in its messages
	for i := range ids {
		ids[i] = deliveryID(i, body)
	}
	all := func(n int) error {
		var next atomic.Int64
		var failure atomic.Pointer[error]
		var wait sync.WaitGroup
		for range in.Batch {
			wait.Go(func() {
				for i := next.Add(1); i <= int64(n) && failure.Load() == nil; i = next.Add(1) {
					if err := post(ids[int(i)%in.Batch], body); err != nil {
						failure.Store(&err)
					}
				}
			})
		}
		wait.Wait()
		if err := failure.Load(); err != nil {
			return *err
		}
		return nil
	}
	if err := all(in.Batch * warmups); err != nil {
		return measurement{}, err
	}
	return measure(in, func() error { return all(in.Batch * in.Invocations) })
}

// sign returns the timestamp and the signature of a delivery sent now.
func sign(id string, body []byte) (timestamp, signed string) {
	now := time.Now().Unix()
	return strconv.FormatInt(now, 10), signature.Sign(secret, id, now, body)
}

func postOnce(client *http.Client, url, id string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	timestamp, signed := sign(id, body)
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Herald/bench"}, "Wh-Id": {id},
		"Wh-Timestamp": {timestamp}, "Wh-Signature": {signed}, "Wh-Webhook-Event": {"user.updated"},
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %d", res.StatusCode)
	}
	return nil
}
