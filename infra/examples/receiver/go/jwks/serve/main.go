// Command serve answers for the tests whether deliveries verify: infra/kit/published.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/herald-webhooks/herald/infra/examples/receiver/go/jwks"
)

func main() {
	pause, err := time.ParseDuration(os.Getenv("PAUSE") + "s")
	if err == nil {
		err = serve(&jwks.Verifier{URL: os.Getenv("JWKS_URL"), Pause: pause})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(verifier *jwks.Verifier) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", listener.Addr())
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: answer(verifier)}
	return server.Serve(listener)
}

func answer(verifier *jwks.Verifier) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		genuine := false
		if err == nil {
			genuine, err = verifier.Verify(r.Header, body)
		}
		switch {
		case err != nil:
			w.WriteHeader(http.StatusServiceUnavailable)
		case !genuine:
			w.WriteHeader(http.StatusBadRequest)
		}
	}
}
