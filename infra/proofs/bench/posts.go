package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// bare is the least that a POST costs: net/http, one tuned transport, kept connections, the same
// body, signature, headers, TLS and concurrency, and nothing else.
func bare(in workload) (measurement, error) {
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 512, MaxIdleConnsPerHost: in.Batch, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, // so without HTTP/2
	}}
	return posts(in, func(header []delivery.Field, body []byte) error {
		req, err := http.NewRequest(http.MethodPost, in.Receiver, bytes.NewReader(body))
		if err != nil {
			return err
		}
		for _, f := range header {
			req.Header[f.Name] = []string{f.Value}
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
	})
}

// exchange measures Herald's own HTTP client, called as the bare client is: no queue, no state, no log.
func exchange(in workload) (measurement, error) {
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: allowedCIDRs, AllowPorts: allowedPorts,
	})
	if err != nil {
		return measurement{}, err
	}
	client := egress.New(egress.Config{Policy: policy, ConnectTimeout: 5 * time.Second, AttemptTimeout: 15 * time.Second})
	return posts(in, func(header []delivery.Field, body []byte) error {
		answer := client.Post(context.Background(), delivery.Request{
			TenantID: tenant, URL: in.Receiver, Body: body, Header: header,
		})
		if answer.Status/100 != 2 {
			return fmt.Errorf("the receiver answered %d %s", answer.Status, answer.Reason)
		}
		return nil
	})
}

// posts measures the function post. One goroutine calls it for each record of the workload's batch, and the next batch
// begins without a pause.
func posts(in workload, post func(header []delivery.Field, body []byte) error) (measurement, error) {
	body := deliveryBody(in.BodyBytes)
	ids := make([]string, in.Batch) // made beforehand, as the handler finds them in its messages
	for i := range ids {
		ids[i] = delivery.ID(tenant, fmt.Sprint("evt_", i), endpointID(0), delivery.ContentOf(body))
	}
	all := func(each int) error {
		failures := make([]error, in.Batch)
		var wait sync.WaitGroup
		for i, id := range ids {
			wait.Go(func() {
				for n := 0; n < each && failures[i] == nil; n++ {
					failures[i] = post(header(id, body), body)
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

// header returns the headers of a delivery sent now.
func header(id string, body []byte) []delivery.Field {
	now := time.Now().Unix()
	return []delivery.Field{
		{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "Herald/bench"},
		{Name: "Wh-Id", Value: id}, {Name: "Wh-Timestamp", Value: strconv.FormatInt(now, 10)},
		{Name: "Wh-Signature", Value: signature.Sign(secret, id, now, body)},
		{Name: "Wh-Webhook-Event", Value: "user.updated"},
	}
}
