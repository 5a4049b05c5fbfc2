package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// TestMain is a sender where the kit starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "post" {
		if odd := senders[os.Args[2]]; odd != nil {
			odd(os.Args[5:])
			os.Exit(0)
		}
		if err := run(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// senders are those that do what none should.
var senders = map[string]func(urls []string){
	"trusting": trusting, "crashing": crashing, "leaving": leaving, "held": held,
}

// crashing takes a 200, and breaks over everything else.
func crashing(urls []string) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	for _, url := range urls {
		resp, err := (&http.Client{Transport: transport}).Post(url, "application/json", strings.NewReader(body))
		if err != nil || resp.StatusCode != http.StatusOK {
			os.Exit(3)
		}
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
}

// leaving has another process do its work, as a script does, and waits for it.
func leaving(urls []string) {
	cmd := exec.Command(os.Args[0], "post", "held", "", "", urls[0])
	if err := cmd.Start(); err == nil {
		_ = cmd.Wait()
	}
}

// held keeps a connection for as long as it lives.
func held(addresses []string) {
	if c, err := net.Dial("tcp", addresses[0]); err == nil {
		_, _ = c.Read(make([]byte, 1))
	}
}

// trusting is a sender that checks no certificate, keeps no deadline, and says 200 whatever comes.
func trusting(urls []string) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := &http.Client{Transport: transport}
	for _, url := range urls {
		if resp, err := client.Post(url, "application/json", strings.NewReader(body)); err == nil {
			_ = resp.Body.Close()
		}
		fmt.Println(200)
	}
}

// started is a kit with the receivers of these names. It ends with the test.
func started(t *testing.T, names ...string) (*kit, options) {
	t.Helper()
	o := mustParse(t, "-match", "^("+strings.Join(names, "|")+")$")
	kit, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kit.end)
	return kit, o
}

// played plays a sender on the cases with these names.
func played(t *testing.T, sender string, names []string, within time.Duration) []result {
	t.Helper()
	kit, o := started(t, names...)
	command, err := builtIn("herald")
	if err != nil {
		t.Fatal(err)
	}
	o.within = within
	results, err := kit.play(t.Context(), strings.Replace(command, "post herald", "post "+sender, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(names) {
		t.Fatalf("%d cases were played, want %d", len(results), len(names))
	}
	return results
}

// The kit finds the faults of careless senders, and nothing where Herald's client is asked.
func TestKit_play_findsWhatASenderDoes(t *testing.T) {
	for _, c := range []struct {
		sender, receiver string
		want             []string
	}{
		{"go", "redirects with 307 to itself elsewhere", []string{redirected}},
		{"go", "sends a body of 100 MB", []string{memory, endless}},
		{"go", "ends its headers by a bare line feed", []string{hung, reused}},
		{"trusting", "has an expired certificate", []string{unverified, deceived}},
		{"trusting", "answers 410", []string{deceived}},
		{"trusting", "takes the request and never answers", []string{hung}},
		{"trusting", "answers 200", nil},
		{"crashing", "answers 410", []string{crashed}},
		{"crashing", "answers 200", nil},
	} {
		t.Run(c.sender+" "+c.receiver, func(t *testing.T) {
			t.Parallel()
			within := 20 * time.Second
			if len(c.want) > 0 && c.want[0] == hung {
				within = 7 * time.Second // a busy machine needs as long until the second POST
			}
			var got []string
			for _, f := range played(t, c.sender, []string{c.receiver}, within)[0].Findings {
				got = append(got, f.Kind)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if c.receiver == "takes the request and never answers" {
				return // 15 s
			}
			for _, f := range played(t, "herald", []string{c.receiver}, within)[0].Findings {
				t.Errorf("of Herald: %s: %s", f.Kind, f.Says)
			}
		})
	}
}

// Each kind of finding has its facts.
func TestJudge(t *testing.T) {
	kind := func(k receivers.Family, statuses ...int) receivers.Case {
		c := receivers.Case{Kind: k}
		for _, status := range statuses {
			c.Want = append(c.Want, receivers.Outcome{Status: status})
		}
		return c
	}
	for name, c := range map[string]struct {
		given receivers.Case
		done  attempt
		want  string
	}{
		"a stale answer":             {kind(receivers.Desyncs, 200, 204), attempt{Statuses: []int{200, 599}}, desynchronised},
		"a real 599":                 {kind(receivers.Statuses, 599), attempt{Statuses: []int{599}}, ""},
		"a redirect taken for a 200": {kind(receivers.Redirects, 302), attempt{Statuses: []int{200}}, deceived},
		"a header that is allowed":   {kind(receivers.Servers, 0), attempt{Statuses: []int{200}}, ""},
		"an early answer":            {kind(receivers.Desyncs, 0), attempt{Statuses: []int{200}}, deceived},
		"a refused answer":           {kind(receivers.Bodies, 200), attempt{Statuses: []int{0}}, ""},
		"64 MiB more":                {kind(receivers.Bodies, 200), attempt{Statuses: []int{200}, Memory: grown + 1}, memory},
		"64 MiB":                     {kind(receivers.Bodies, 200), attempt{Statuses: []int{200}, Memory: grown}, ""},
		"a missing line":             {kind(receivers.Bodies, 0), attempt{Statuses: []int{0}, Silent: 1}, crashed},
	} {
		var got []string
		for _, f := range judge(hosted{c.given, receivers.Target{Seen: &receivers.Seen{}}}, c.done) {
			got = append(got, f.Kind)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: found %v, want %q", name, got, c.want)
		}
	}
}

func TestStatuses_readsALineForEachPost(t *testing.T) {
	got, told := statuses("200\n000\nno route\n 503 \n204\n", 6)
	if diff := cmp.Diff([]int{200, 0, 0, 503, 204, 0}, got); diff != "" || told != 5 {
		t.Errorf("%d told, statuses (-want +got):\n%s", told, diff)
	}
	if got, told := statuses("200\n204\n500\n", 2); len(got) != 2 || told != 2 {
		t.Errorf("of more lines than POSTs: %v, %d told", got, told)
	}
}

// A sender may print what it gets, and bodies have no end.
func TestOpening_keepsTheBeginningAlone(t *testing.T) {
	var o opening
	all := bytes.Repeat([]byte("200\n"), kept)
	for len(all) > 0 {
		n, err := o.Write(all[:min(len(all), 1000)])
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		all = all[n:]
	}
	if o.Len() != kept || !strings.HasPrefix(o.String(), "200\n") {
		t.Errorf("it keeps %d bytes, want %d", o.Len(), kept)
	}
}

// A client that a script has started would go on and on after the script was ended.
func TestKit_run_endsWhatASenderHasStarted(t *testing.T) {
	kit, _ := started(t, "answers 200")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	ctx, stop := context.WithCancel(t.Context())
	taken := make(chan net.Conn, 1)
	go func() {
		defer stop() // the sender is ended once it has another process
		if c, err := listener.Accept(); err == nil {
			taken <- c
		}
	}()
	one := hosted{receivers.Case{Want: make([]receivers.Outcome, 1)}, receivers.Target{URL: listener.Addr().String()}}
	if _, err := kit.run(ctx, []string{os.Args[0], "post", "leaving", "-", "-", "{urls}"}, one, time.Minute); err != nil {
		t.Fatal(err)
	}
	c := <-taken
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the process that the sender has started lives on")
	}
}

// A sender that does not get through to a receiver that behaves says nothing about the others.
func TestKit_play_refusesASenderThatDoesNotDeliver(t *testing.T) {
	kit, o := started(t, "answers 200")
	for command, want := range map[string]string{
		"true {urls}":                 "from a receiver that behaves",
		"sh -c no-such-sender {urls}": "complained",
		"/no/such/sender {urls}":      "starting the sender",
		"true":                        "needs {urls}",
	} {
		if _, err := kit.play(t.Context(), command, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", command, err, want)
		}
	}
}

// Nothing of the kit can be reached from another machine.
//
// Threat of a page: the kit of hostile receivers is reached, or leaves something. Held by: loopback alone; it ends
// what it started.
func TestKit_listensOnLoopbackAlone(t *testing.T) {
	kit, err := start(mustParse(t, "-beyond"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kit.end)
	addresses := []string{kit.fine}
	for _, c := range kit.cases {
		addresses = append(addresses, c.URL)
		if c.Neighbour != "" {
			addresses = append(addresses, c.Neighbour)
		}
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || !net.ParseIP(u.Hostname()).IsLoopback() {
			t.Errorf("a receiver is at %s, %v", address, err)
		}
	}
}

// A sender elsewhere is watched, too.
func TestKit_await_saysWhatTheReceiversHaveSeen(t *testing.T) {
	kit, _ := started(t, "answers 200", "redirects with 307 to itself elsewhere", "answers 500")
	pem, err := os.ReadFile(kit.authority)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	send := plain(pool)
	for _, c := range kit.cases {
		if c.Name != "answers 500" {
			send(t.Context(), c.URL)
		}
	}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	var out strings.Builder
	if err := kit.await(interrupted, &out, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 of 3 receivers were asked", "redirected: it connected to where it was sent", kit.authority,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestParse_refusesWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-exec a -sender herald": "two senders",
		"-parallel 17":           "from 1 to 16",
		"-within 0s":             "from 1s to 1h",
		"-within 90m":            "from 1s to 1h",
		"-for -1s":               "from 1s to 24h",
		"-for 25h":               "from 1s to 24h",
		"-match (":               "-match",
		"serve":                  `"serve" is no flag`,
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
	if _, err := builtIn("ruby"); err == nil || !strings.Contains(err.Error(), names()) {
		t.Errorf("an unknown sender: error %v", err)
	}
	if _, err := start(options{match: mustParse(t, "-match", "^nothing$").match}); err == nil {
		t.Error("no case: no error")
	}
}

func mustParse(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
