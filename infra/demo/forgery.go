package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/receiver"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// forgery is a request that no receiver may accept, made from a genuine delivery.
type forgery struct {
	name      string
	secret    string
	timestamp int64
	body      []byte
}

func (d *demo) forgeries(ctx context.Context) error {
	heading("Forged and stale requests")
	outside, err := d.outsider()
	if err != nil {
		return err
	}
	genuine := d.events.inbox.Requests()[0]
	secret, now := d.events.endpoint.SigningSecret, time.Now()
	header()
	for _, f := range []forgery{
		{"signed with another key", "whs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now.Unix(), genuine.Body},
		{"right key, sent six minutes ago", secret, now.Add(-6 * time.Minute).Unix(), genuine.Body},
	} {
		if err := d.refused(ctx, outside, f, genuine.ID+"x", f.signature(genuine.ID+"x")); err != nil {
			return err
		}
	}
	changed := forgery{"genuine signature, one byte of the body changed", secret, genuine.Timestamp,
		bytes.Replace(genuine.Body, []byte(":"), []byte(" :"), 1)}
	return d.refused(ctx, outside, changed, genuine.ID, genuine.Header.Get("wh-signature"))
}

// signature signs like the specification says, with the standard library alone.
func (f forgery) signature(id string) string {
	mac := hmac.New(sha256.New, []byte(f.secret))
	fmt.Fprintf(mac, "%s.%d.%s", id, f.timestamp, f.body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (d *demo) refused(ctx context.Context, outside *http.Client, f forgery, id, signature string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.events.inbox.URL, bytes.NewReader(f.body))
	if err != nil {
		return fmt.Errorf("making forgery: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("wh-id", id)
	req.Header.Set("wh-timestamp", strconv.FormatInt(f.timestamp, 10))
	req.Header.Set("wh-signature", signature)
	req.Header.Set("wh-webhook-event", "user.banned")
	sent := time.Now()
	resp, err := outside.Do(req)
	if err != nil {
		return fmt.Errorf("sending forgery: %w", err)
	}
	_ = resp.Body.Close()
	got := d.events.inbox.Requests()
	var last receiver.Request
	if len(got) > 0 {
		last = got[len(got)-1]
	}
	row(last, 1, sent)
	d.shown = len(got)
	d.check(resp.StatusCode == http.StatusBadRequest && last.Standard != nil, "%s: answered %d", f.name, resp.StatusCode)
	return nil
}

// outsider is somebody who knows the receiver's URL.
func (d *demo) outsider() (*http.Client, error) {
	roots, err := pki.ReadPool(d.client.CAFile)
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}, nil
}
