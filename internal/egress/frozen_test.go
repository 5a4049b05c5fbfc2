package egress_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/herald-webhooks/herald/internal/egress"
)

// The test binary runs itself as the function's process: it posts once for every line that it
// reads and answers each with what became of the POST.
const (
	frozenURL = "HERALD_TEST_FROZEN_URL"
	frozenCA  = "HERALD_TEST_FROZEN_CA"
)

func TestMain(m *testing.M) {
	if os.Getenv(frozenURL) == "" {
		os.Exit(m.Run())
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv(frozenCA)))
	client := egress.New(egress.Config{RootCAs: roots, Policy: loopback()})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		r := client.Post(context.Background(), to(os.Getenv(frozenURL)))
		fmt.Printf("%d %q\n", r.Status, r.Reason)
	}
}

// loopback allows what the local stage allows.
func loopback() egress.Policy {
	return egress.NewPolicy(
		[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []egress.PortRange{{From: 1024, To: 65535}},
	)
}

// connections keeps a server's open connections, to cut them from its side.
type connections struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (c *connections) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == http.StateClosed {
		delete(c.conns, conn)
	} else {
		c.conns[conn] = true
	}
}

// cut closes them all without a word of TLS.
func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = t.NetConn()
		}
		_ = conn.Close()
	}
}

func TestClient_Post_replacesAConnectionThatDiedWhileFrozen(t *testing.T) {
	var requests atomic.Int32
	kept := &connections{conns: map[net.Conn]bool{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	server.Config.ConnState = kept.state
	server.StartTLS()
	defer server.Close()

	post, signal := frozen(t, server)
	if got := post(); got != `204 ""` {
		t.Fatalf("first POST: %s", got)
	}
	for range 3 { // a race between the cut and the write would show
		signal(syscall.SIGSTOP)
		kept.cut()
		signal(syscall.SIGCONT)
		if got := post(); got != `204 ""` {
			t.Errorf("after the freeze: %s", got)
		}
	}
	if n := requests.Load(); n != 4 {
		t.Errorf("%d requests arrived, want 4", n)
	}
}

// frozen starts this binary as a poster to server.
func frozen(t *testing.T, server *httptest.Server) (post func() string, signal func(syscall.Signal)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), frozenURL+"="+server.URL, frozenCA+"="+pemOf(server.Certificate()))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReader(out)
	post = func() string {
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	signal = func(s syscall.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	return post, signal
}
