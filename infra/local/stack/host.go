package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/httpapi"
	"github.com/herald-webhooks/herald/infra/local/internal/invokeapi"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

const tenant = "tenant_acme" // the sample events'

// listen opens the AWS endpoint; functions that invoke others need its address.
func (s *Stack) listen(ctx context.Context) (err error) {
	s.front, s.AWSEndpointURL, err = listen(ctx, s.options.AWSPort)
	if err != nil {
		return fmt.Errorf("opening the AWS endpoint: %w", err)
	}
	s.onClose(func() { _ = s.front.Close() }) // also closed by its server
	return nil
}

// serve starts the AWS endpoint, and the HTTP API if the template has one.
func (s *Stack) serve(ctx context.Context) (err error) {
	front := &invokeapi.API{
		Functions: map[string]*function.Function{}, Aliases: s.aliases(),
		Lifetime: s.life, Emulator: s.emulator.URL, Go: s.running.Go,
	}
	for _, f := range s.functions {
		front.Functions[f.Name] = f
	}
	s.serveOn(s.front, front.Handler())
	declared := s.template.OfType("AWS::ApiGatewayV2::Api")
	if len(declared) > 1 {
		return errors.New("the template has more than one HTTP API")
	}
	for _, r := range declared {
		id, err := httpapi.FunctionOf(r.Properties)
		if err != nil {
			return fmt.Errorf("reading routes: %w", err)
		}
		l, url, err := listen(ctx, s.options.APIPort)
		if err != nil {
			return fmt.Errorf("serving the HTTP API: %w", err)
		}
		s.APIURL = url
		s.serveOn(l, &httpapi.API{Function: s.functions[id], Lifetime: s.life})
	}
	return nil
}

func listen(ctx context.Context, port string) (l net.Listener, url string, err error) {
	l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		return nil, "", fmt.Errorf("listening on port %s: %w", port, err)
	}
	return l, "http://" + l.Addr().String(), nil
}

func (s *Stack) serveOn(l net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 10 << 10}
	go func() { _ = server.Serve(l) }() // ends with ErrServerClosed
	s.onClose(func() { _ = server.Close() })
}

// issueKey makes the stack's tenant by asking the function that issues keys, if there is one, as an operator does.
func (s *Stack) issueKey(ctx context.Context) error {
	f, ok := s.functions["ApikeysFunction"]
	if !ok {
		return nil
	}
	of := api.IssueKeyRequest{TenantID: tenant, Description: "made by the local stack"}
	request, err := api.IssueKey.Encode("local-stack", of)
	if err != nil {
		return err
	}
	result, err := f.Invoke(ctx, request)
	if err != nil {
		return fmt.Errorf("issuing an API key: %w", err)
	}
	answer, err := api.IssueKey.Decode(result.Payload)
	if err != nil || answer.APIKey == "" {
		return fmt.Errorf("issuing an API key: the function answered %s; see %s", result.Payload, f.LogFile)
	}
	s.TenantID, s.APIKey = tenant, answer.APIKey
	return nil
}
