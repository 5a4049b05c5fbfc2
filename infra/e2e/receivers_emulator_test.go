//go:build emulator

package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// The README's Go receiver answers in every other test.
func TestTheDocumentedNodeReceiverVerifiesRealDeliveries(t *testing.T) {
	t.Parallel()
	testReceiver(t, "node", "infra/examples/receiver/node/receiver.mjs")
}

func TestTheDocumentedPythonReceiverVerifiesRealDeliveries(t *testing.T) {
	t.Parallel()
	testReceiver(t, "python3", "infra/examples/receiver/python/receiver.py")
}

func testReceiver(t *testing.T, interpreter, script string) {
	t.Helper()
	c := tenant(t)
	inbox := server.Inbox("/" + unique("inbox"))
	endpoint, err := c.CreateEndpoint(t.Context(), inbox.URL, "*")
	if err != nil {
		t.Fatal(err)
	}
	behind, printed := startReceiver(t, interpreter, script, endpoint.SigningSecret)
	// The inbox ends TLS, as a load balancer does, and passes the bytes on.
	if err := inbox.Verify(endpoint.SigningSecret, httputil.NewSingleHostReverseProxy(behind)); err != nil {
		t.Fatal(err)
	}
	s := subscription{endpoint, inbox}
	types, err := examples.Types()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range types {
		publish(t, c, name)
	}
	got := s.await(t, len(types))
	genuine(t, got)
	for _, r := range got {
		if r.Status != http.StatusOK {
			t.Errorf("%s: %s answered %d", interpreter, r.Event, r.Status)
		}
		eventually(t, "the receiver to process "+r.ID, func(context.Context) (bool, error) {
			return strings.Contains(printed(), fmt.Sprintf("%s %s %d\n", r.ID, r.Event, len(r.Body))), nil
		})
	}

	r := got[0]
	now := strconv.FormatInt(time.Now().Unix(), 10)
	stale := strconv.FormatInt(time.Now().Add(-6*time.Minute).Unix(), 10)
	original := sent{r.ID, strconv.FormatInt(r.Timestamp, 10), r.Header.Get("wh-signature"), r.Body}
	changed := original
	changed.body = append([]byte(" "), r.Body...)
	for name, forged := range map[string]struct {
		sent
		want int
	}{
		"a duplicate":    {original, 200},
		"a changed body": {changed, 400},
		"a stale request": {
			sent{"msg_x", stale, sign(endpoint.SigningSecret, "msg_x", stale, r.Body), r.Body}, 400,
		},
		"another key":              {sent{"msg_x", now, sign("whs_other", "msg_x", now, r.Body), r.Body}, 400},
		"no signature":             {sent{"msg_x", now, "", r.Body}, 400},
		"a signature beyond ASCII": {sent{"msg_x", now, "v1,é", r.Body}, 400},
	} {
		if status := post(t, behind, forged.sent); status != forged.want {
			t.Errorf("%s: %s answered %d, want %d", interpreter, name, status, forged.want)
		}
	}
	concurrently(t, behind, endpoint.SigningSecret, r.Body)
	eventually(t, "each delivery to be processed once", func(context.Context) (bool, error) {
		lines := strings.Count(printed(), "\n")
		if lines > len(types)+50 {
			t.Fatalf("%s processed %d deliveries of %d:\n%s", interpreter, lines, len(types)+50, printed())
		}
		return lines == len(types)+50, nil
	})
}

// concurrently sends fifty deliveries, each four times at once.
func concurrently(t *testing.T, to *url.URL, secret string, body []byte) {
	t.Helper()
	for i := range 50 {
		id, stamp := fmt.Sprintf("msg_twice_%d", i), strconv.FormatInt(time.Now().Unix(), 10)
		var copies sync.WaitGroup
		for range 4 {
			copies.Go(func() {
				if status := post(t, to, sent{id, stamp, sign(secret, id, stamp, body), body}); status != http.StatusOK {
					t.Errorf("a concurrent duplicate was answered %d", status)
				}
			})
		}
		copies.Wait()
	}
}

// startReceiver runs the script on a free port until the test ends and returns what it prints.
func startReceiver(t *testing.T, interpreter, script, secret string) (*url.URL, func() string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = listener.Close()
	var out output
	cmd := exec.Command(interpreter, filepath.Join(root, script))
	cmd.Env = append(os.Environ(), "PORT="+port, "SIGNING_SECRET="+secret)
	cmd.Stdout = &out
	process, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	eventually(t, interpreter+" to listen", func(context.Context) (bool, error) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, nil
	})
	return &url.URL{Scheme: "http", Host: address}, out.String
}

// output gathers what a process prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func sign(secret, id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(id + "." + stamp + "." + string(body)))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// sent is a request as a receiver gets it.
type sent struct {
	id, stamp, signature string
	body                 []byte
}

func post(t *testing.T, to *url.URL, s sent) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to.String(), bytes.NewReader(s.body))
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Header.Set("wh-id", s.id)
	req.Header.Set("wh-timestamp", s.stamp)
	req.Header.Set("wh-signature", s.signature)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}
