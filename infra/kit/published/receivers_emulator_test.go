//go:build emulator

// These tests need no emulator, but every language's tools, which plain go test ./... does without.

package published_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/infra/kit/published"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

const (
	secret = "whsec_oYx2+Rk0fJm7Qe4LwT1bVn8sCz5uHd3gPa6iKq9rBtE="
	older  = "whsec_Jq7vN2mXc9RtLk4WbZs6PyHd0GfUe3oAi8TxQn5CrVw=" // the secret before a rotation
	event  = "user.created"
)

// subject is a running receiver and the language it is written in.
type subject struct {
	published.Language
	*published.Receiver
}

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // most of the time is spent on waiting for slow senders
	os.Exit(m.Run())
}

func TestReceivers(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range published.Languages() {
		t.Run(language.Name, func(t *testing.T) {
			t.Parallel()
			r, err := language.Start(t.Context(), published.Place{Root: root, Scratch: t.TempDir()}, secret, "", older)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Close)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("it printed:\n%s", r.Printed())
				}
			})
			s := subject{language, r}
			t.Run("take what is genuine, once", s.takeWhatIsGenuine)
			t.Run("take both secrets of a rotation", s.takeBothSecrets)
			t.Run("refuse what is not genuine", s.refuseForgeries)
			t.Run("process again what failed", s.processAgainWhatFailed)
			t.Run("answer 409 while at work", s.conflictWhileAtWork)
			t.Run("process again what failed while a retry was refused", s.conflictThenFailure)
			t.Run("remember what its sender gave up", s.rememberWhatWasGivenUp)
			t.Run("process once what comes many times at once", s.processOnceConcurrently)
			t.Run("bound what they read", s.boundWhatTheyRead)
		})
	}
}

// delivery is one POST to a receiver. Each delivery has a different body.
type delivery struct {
	id, stamp, signature, body string
}

// genuine is a delivery just signed by Herald's own code.
func genuine(id string) delivery {
	return signed(id, body(`{"userId":"`+id+`","name":"Zoë \u00e9"}`), time.Now())
}

func body(data string) string { return `{"type":"` + event + `","data":` + data + `}` }

func signed(id, body string, at time.Time) delivery {
	stamp := at.Unix()
	return delivery{id, strconv.FormatInt(stamp, 10), signature.Sign(secret, id, stamp, []byte(body)), body}
}

// again is the delivery's next attempt: the same id and body, signed anew.
func (d delivery) again() delivery { return signed(d.id, d.body, time.Now()) }

func (d delivery) request(ctx context.Context, s subject) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL.String(), strings.NewReader(d.body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"wh-id": d.id, "wh-timestamp": d.stamp, "wh-signature": d.signature, "wh-webhook-event": event,
		"content-type": "application/json",
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// answer is a status and the header that matters to a sender.
type answer struct {
	Status     int
	RetryAfter bool // one of at least a second
}

var (
	taken    = answer{Status: http.StatusOK}
	refused  = answer{Status: http.StatusBadRequest}
	failed   = answer{Status: http.StatusInternalServerError}
	conflict = answer{Status: http.StatusConflict, RetryAfter: true}
)

func (s subject) post(t *testing.T, d delivery) answer {
	t.Helper()
	req, err := d.request(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, req)
}

func send(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := (&http.Client{Timeout: patience.Limit()}).Do(req)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	seconds, _ := strconv.Atoi(resp.Header.Get("retry-after"))
	return answer{resp.StatusCode, seconds >= 1}
}

// work is how often the receiver has asked for the work on the delivery.
func (s subject) work(d delivery) (times int) {
	for _, w := range s.Done() {
		if w == (published.Work{Event: event, Body: d.body}) {
			times++
		}
	}
	return times
}

func (s subject) expect(t *testing.T, d delivery, times int, want, got []answer) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(times, s.work(d)); diff != "" {
		t.Errorf("times processed (-want +got):\n%s", diff)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience.Limit()); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (s subject) takeWhatIsGenuine(t *testing.T) {
	large := `"` + strings.Repeat("x", 1<<20-len(body(`""`))) + `"`
	odd := " {\r\n\t\"\\u0000\u007f\\ud83d\\ude00\U0001F600\" : 1e400}"
	for name, row := range map[string]struct {
		data string
		late time.Duration
	}{
		"an event":          {`{"userId":"user_1","name":"Zoë \u00e9"}`, 0},
		"four minutes late": {`{"late":1}`, 4 * time.Minute},
		"as much as may be": {large, 0},
		"nested deeply":     {strings.Repeat("[", 900) + strings.Repeat("]", 900), 0},
		"odd characters":    {odd, 0},
	} {
		d := signed("msg_"+strings.ReplaceAll(name, " ", "_"), body(row.data), time.Now().Add(-row.late))
		s.expect(t, d, 1, []answer{taken, taken, taken}, []answer{s.post(t, d), s.post(t, d), s.post(t, d.again())})
		if t.Failed() {
			t.Fatal(name)
		}
	}
	d := genuine("msg_chunked")
	req, err := d.request(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = -1
	want, times := taken, 1
	if s.NoChunks != 0 {
		want, times = answer{Status: s.NoChunks}, 0
	}
	s.expect(t, d, times, []answer{want}, []answer{send(t, req)})
}

// takeBothSecrets sends a delivery twice, signed with the secrets before and after a rotation.
func (s subject) takeBothSecrets(t *testing.T) {
	d := genuine("msg_rotated")
	before, stamp := d, time.Now().Unix()
	before.stamp, before.signature = strconv.FormatInt(stamp, 10), signature.Sign(older, d.id, stamp, []byte(d.body))
	s.expect(t, d, 1, []answer{taken, taken}, []answer{s.post(t, before), s.post(t, d)})
}

func (s subject) refuseForgeries(t *testing.T) {
	before := s.Done()
	for name, change := range map[string]func(d *delivery){
		"another body":        func(d *delivery) { d.body += " " },
		"no body":             func(d *delivery) { d.body = "" },
		"another id":          func(d *delivery) { d.id = "msg_other" },
		"no id":               func(d *delivery) { d.id = "" },
		"six minutes old":     func(d *delivery) { *d = signed(d.id, d.body, time.Now().Add(-6*time.Minute)) },
		"six minutes early":   func(d *delivery) { *d = signed(d.id, d.body, time.Now().Add(6*time.Minute)) },
		"beyond any calendar": func(d *delivery) { d.sign("9223372036854775807") },
		"an old one with a new timestamp": func(d *delivery) {
			*d = signed(d.id, d.body, time.Now().Add(-time.Hour))
			d.stamp = strconv.FormatInt(time.Now().Unix(), 10)
		},
		"no timestamp":                         func(d *delivery) { d.stamp = "" },
		"a timestamp signed that is no number": func(d *delivery) { d.sign("soon") },
		"another key": func(d *delivery) {
			d.signature = signature.Sign("whsec_other", d.id, time.Now().Unix(), []byte(d.body))
		},
		"the empty key": func(d *delivery) {
			d.signature = signature.Sign("", d.id, time.Now().Unix(), []byte(d.body))
		},
		"no signature":                 func(d *delivery) { d.signature = "" },
		"no version":                   func(d *delivery) { d.signature = d.signature[len("v1,"):] },
		"half of the signature":        func(d *delivery) { d.signature = d.signature[:len(d.signature)/2] },
		"a signature beyond ASCII":     func(d *delivery) { d.signature = "v1,\u00e9" },
		"a signature and another byte": func(d *delivery) { d.signature += "=" },
	} {
		d := genuine("msg_forged")
		change(&d)
		if diff := cmp.Diff(refused, s.post(t, d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	s.refuseOtherTypes(t)
	if diff := cmp.Diff(before, s.Done(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("processed (-before +after):\n%s", diff)
	}
}

// refuseOtherTypes sends genuine deliveries with another header wh-webhook-event. The signature does not cover the
// header, so the receiver has to compare it with the body.
func (s subject) refuseOtherTypes(t *testing.T) {
	t.Helper()
	for _, header := range []string{
		"", "user.deleted", "user.create", "user.created2", `user.created","data":{"userId":"`,
	} {
		req, err := genuine("msg_forged").request(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Del("wh-webhook-event")
		if header != "" {
			req.Header.Set("wh-webhook-event", header)
		}
		if diff := cmp.Diff(refused, send(t, req)); diff != "" {
			t.Errorf("the header %q (-want +got):\n%s", header, diff)
		}
	}
}

// sign signs the delivery with a timestamp that Herald would never send.
func (d *delivery) sign(stamp string) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(d.id + "." + stamp + "." + d.body))
	d.stamp, d.signature = stamp, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s subject) processAgainWhatFailed(t *testing.T) {
	d := genuine("msg_fails")
	s.Next(d.body, published.Outcome{Fail: true}, published.Outcome{Fail: true})
	got := []answer{s.post(t, d), s.post(t, d.again()), s.post(t, d.again()), s.post(t, d.again())}
	s.expect(t, d, 3, []answer{failed, failed, taken, taken}, got)
}

// hold sends a delivery and returns once its work has begun. The work waits until release is called.
func (s subject) hold(t *testing.T, d delivery, fail bool) (release func(), answered <-chan answer) {
	t.Helper()
	held, first := make(chan struct{}), make(chan answer, 1)
	s.Next(d.body, published.Outcome{Hold: held, Fail: fail})
	go func() { first <- s.post(t, d) }()
	eventually(t, "the work to begin", func() bool { return s.work(d) == 1 })
	return sync.OnceFunc(func() { close(held) }), first
}

func (s subject) conflictWhileAtWork(t *testing.T) {
	d := genuine("msg_slow")
	release, first := s.hold(t, d, false)
	got := []answer{s.post(t, d), s.post(t, d.again())}
	release()
	got = append(got, <-first, s.post(t, d.again()))
	s.expect(t, d, 1, []answer{conflict, conflict, taken, taken}, got)
}

func (s subject) conflictThenFailure(t *testing.T) {
	d := genuine("msg_slow_and_fails")
	release, first := s.hold(t, d, true)
	got := []answer{s.post(t, d.again())}
	release()
	got = append(got, <-first, s.post(t, d.again()), s.post(t, d.again()))
	s.expect(t, d, 2, []answer{conflict, failed, taken, taken}, got)
}

// rememberWhatWasGivenUp shows a receiver at work for longer than an attempt lasts.
func (s subject) rememberWhatWasGivenUp(t *testing.T) {
	for i, outcome := range []struct {
		fail  bool
		times int
	}{{false, 1}, {true, 2}} {
		d, held := genuine(fmt.Sprintf("msg_given_up_%d", i)), make(chan struct{})
		s.Next(d.body, published.Outcome{Hold: held, Fail: outcome.fail})
		ctx, giveUp := context.WithCancel(t.Context())
		req, err := d.request(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Error("an answer came although the work was held")
			}
		}()
		eventually(t, "the work to begin", func() bool { return s.work(d) == 1 })
		giveUp()
		<-gone
		got := []answer{s.post(t, d.again())}
		close(held)
		eventually(t, "the retry to be taken", func() bool { return s.post(t, d.again()) == taken })
		s.expect(t, d, outcome.times, []answer{conflict}, got)
	}
}

func (s subject) processOnceConcurrently(t *testing.T) {
	for i := range 12 {
		d := genuine(fmt.Sprintf("msg_at_once_%d", i))
		var copies sync.WaitGroup
		answers := make([]answer, 4)
		for n := range answers {
			copies.Go(func() { answers[n] = s.post(t, d) })
		}
		copies.Wait()
		for _, got := range answers {
			if got != taken && got != conflict {
				t.Errorf("one of four at once was answered %v", got)
			}
		}
		s.expect(t, d, 1, []answer{taken}, []answer{s.post(t, d)})
	}
}
