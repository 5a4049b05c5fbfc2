package commands

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// interrupting is a function that meets a Ctrl-C while it works, and answers when the console takes no one else.
type interrupting struct {
	interrupt func()
	address   string
}

func (i *interrupting) Invoke(
	ctx context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	if *in.FunctionName != "control" {
		return &lambda.InvokeOutput{Payload: []byte(`{}`)}, nil
	}
	i.interrupt()
	for ctx.Err() == nil && i.takes(ctx) {
	}
	return &lambda.InvokeOutput{Payload: []byte(`{"paused":true}`)}, ctx.Err()
}

// takes reports whether the console takes a connection.
func (i *interrupting) takes(ctx context.Context) bool {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", i.address)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// An operator has to know whether the act was done that was under way.
//
// Threat of a slip: ends the console during an act. Held by: the act is answered first.
func TestConsole_answersTheActThatWasUnderWay(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	functions := &interrupting{interrupt: interrupt}
	connect := func(context.Context, stack.Where) (stack.Stack, error) {
		return stack.Stack{Name: "herald-test", Lambda: functions, AWS: newAccount().config(),
			Functions: map[string]string{"control": "control", "inspect": "inspect"}}, nil
	}
	r, w := io.Pipe()
	on := &terminal.Terminal{In: strings.NewReader(""), Out: w, Err: io.Discard, Now: clock}
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, []string{"herald", "console"}, on, connect) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	functions.address = "127.0.0.1:" + at.Port()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, functions.address)
		},
	}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	let, err := browser.Get(at.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = let.Body.Close()
	act := "http://" + at.Host + at.Path + "control/pause"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, act, strings.NewReader("endpoint_id=webhook_1"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://"+at.Host)
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatalf("the act that was under way has no answer: %v", err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || !strings.Contains(to, "done=paused") {
		t.Errorf("%s, leads to %q", resp.Status, to)
	}
	if code := <-ended; code != exit.Done {
		t.Errorf("exit code %d", code)
	}
}
