// Command serve starts the README's receiver for the tests, which decide about each delivery:
// infra/kit/published.
package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	receiver "github.com/herald-webhooks/herald/infra/examples/receiver/go"
)

func main() {
	if err := serve(strings.Split(os.Getenv("SIGNING_SECRETS"), ","), os.Getenv("WORK")); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(secrets []string, work string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", listener.Addr())
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: receiver.Handler(secrets, process(work))}
	return server.Serve(listener)
}

// process leaves the work to the tests.
func process(work string) func(event string, body []byte) error {
	return func(event string, body []byte) error {
		req, err := http.NewRequest(http.MethodPost, work, bytes.NewReader(body)) //nolint:gosec // the tests' own URL
		if err != nil {
			return fmt.Errorf("handing on: %w", err)
		}
		req.Header.Set("event", event)
		resp, err := http.DefaultClient.Do(req) //nolint:gosec // the tests' own URL
		if err != nil {
			return fmt.Errorf("handing on: %w", err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("the work failed: %s", resp.Status)
		}
		return nil
	}
}
