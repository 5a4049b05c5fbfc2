package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// body is an event for the receivers.
const body = `{"type":"user.created","data":{}}`

// commands are the senders that come with the kit: Herald's own client, and the HTTP clients that most senders are
// written with, as their documentation uses them, with a timeout of 15 s.
var commands = map[string]string{
	"herald": "{self} post herald {ca} {pause} {urls}",
	"go":     "{self} post go {ca} {pause} {urls}",
	"curl": "curl --silent --show-error --location --max-time 15 --rate 40/m --cacert {ca} " +
		"--json " + body + " --output /dev/null --write-out %{http_code}\\n {url}?[1-{posts}]",
	"node":   "node infra/proofs/hostile/senders/sender.mjs {ca} {pause} {urls}",
	"python": ".venv/bin/python infra/proofs/hostile/senders/sender.py {ca} {pause} {urls}",
}

// names are the names of the senders.
func names() string { return strings.Join(slices.Sorted(maps.Keys(commands)), ", ") }

// builtIn is the command of a sender that comes with the kit.
func builtIn(name string) (string, error) {
	command, ok := commands[name]
	if !ok {
		return "", fmt.Errorf("-sender is one of %s, not %q", names(), name)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the kit's program: %w", err)
	}
	return strings.ReplaceAll(command, "{self}", self), nil
}

// post is a sender, which runs in its own process. It POSTs to the URLs in turn, and prints the statuses.
func post(ctx context.Context, name string, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: post NAME CA PAUSE URL…")
	}
	pem, err := os.ReadFile(args[0]) //nolint:gosec // the kit names it
	if err != nil {
		return fmt.Errorf("reading the authority's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	pause, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return fmt.Errorf("reading the pause: %w", err)
	}
	send := plain(pool)
	if name == "herald" {
		send, err = herald(pool)
		if err != nil {
			return err
		}
	}
	for i, url := range args[2:] {
		if i > 0 {
			time.Sleep(time.Duration(pause * float64(time.Second)))
		}
		fmt.Println(send(ctx, url))
	}
	return nil
}

// herald is the client of deliver, as the local stage has it.
func herald(pool *x509.CertPool) (func(context.Context, string) int, error) {
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: "127.0.0.1/32", AllowPorts: "1024-65535",
	})
	if err != nil {
		return nil, err
	}
	client := egress.New(egress.Config{Policy: policy, RootCAs: pool})
	return func(ctx context.Context, url string) int {
		return client.Post(ctx, delivery.Request{
			TenantID: "tenant_1", URL: url, Body: []byte(body),
			Header: []delivery.Field{{Name: "Content-Type", Value: "application/json"}},
		}).Status
	}, nil
}

// plain is net/http's client with a timeout, as most senders in Go have it.
func plain(pool *x509.CertPool) func(context.Context, string) int {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	client := &http.Client{Timeout: 15 * time.Second, Transport: transport}
	return func(ctx context.Context, url string) int {
		//nolint:gosec // the kit's own receivers
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
		if err != nil {
			return 0
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req) //nolint:gosec // likewise
		if err != nil {
			return 0
		}
		defer func() { _ = resp.Body.Close() }()
		if _, err = io.ReadAll(resp.Body); err != nil {
			return 0
		}
		return resp.StatusCode
	}
}
