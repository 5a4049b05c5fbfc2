// Command serve starts the PHP receiver for the tests as CGI, behind a server that bounds bodies and slow senders as
// the web server in front of PHP has to. The tests decide about each delivery: infra/kit/published.
package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // no proxy is configured by its environment
	"os"
	"os/exec"
	"time"
)

func main() {
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// serve runs the script for each request and gives it the folder.
func serve(script, folder string) error {
	php, err := exec.LookPath("php-cgi")
	if err != nil {
		return fmt.Errorf("looking for PHP: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", listener.Addr())
	handler := &cgi.Handler{
		Path: php, Args: []string{"-d", "memory_limit=16M"},
		Env:        []string{"SCRIPT_FILENAME=" + script, "REDIRECT_STATUS=200", "FOLDER=" + folder},
		InheritEnv: []string{"SIGNING_SECRETS", "WORK"},
	}
	server := http.Server{ReadTimeout: 10 * time.Second, Handler: http.MaxBytesHandler(handler, 1<<20)}
	return server.Serve(listener)
}
