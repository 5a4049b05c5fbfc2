package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// bare is the least that a POST costs: net/http, one tuned transport, kept connections, the same
// body, signature, headers, TLS and concurrency, and nothing else. A goroutine makes the posts of each record of the
// workload's batch without a pause.
func bare(in workload) (measurement, error) {
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 512, MaxIdleConnsPerHost: in.Batch, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, // so without HTTP/2
	}}
	body := deliveryBody()
	content := delivery.ContentOf(body)
	all := func(each int) error {
		failures := make([]error, in.Batch)
		var wait sync.WaitGroup
		for i := range failures {
			id := delivery.ID(tenant, fmt.Sprint("evt_", i), endpointID, content)
			wait.Go(func() {
				for n := 0; n < each && failures[i] == nil; n++ {
					failures[i] = post(client, in.Receiver, id, body)
				}
			})
		}
		wait.Wait()
		return errors.Join(failures...)
	}
	if err := all(warmups); err != nil {
		return measurement{}, err
	}
	return measure(in, func() error { return all(in.Invocations) })
}

// post makes the POST of a delivery that is signed now.
func post(client *http.Client, url, id string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	now := time.Now().Unix()
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Herald/bench", "Wh-Webhook-Event": "user.updated",
		"Wh-Id": id, "Wh-Timestamp": strconv.FormatInt(now, 10), "Wh-Signature": signature.Sign(secret, id, now, body),
	} {
		req.Header[name] = []string{value}
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
