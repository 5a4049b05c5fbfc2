package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/httpapi"
	"github.com/herald-webhooks/herald/infra/local/internal/invokeapi"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const tenant = "tenant_acme" // the sample events'

// folder is the name of a function's folder: XyzFunction lives in functions/xyz.
func folder(logicalID string) string {
	return strings.ToLower(strings.TrimSuffix(logicalID, "Function"))
}

// describe records the deployed resources.
func (s *Stack) describe() {
	s.Region, s.StackName = region, stackName
	s.Tables, s.Keys, s.Queues = s.deployed.Tables, s.deployed.Keys, s.deployed.Queues
	s.Functions = map[string]string{}
	for id, f := range s.deployed.Functions {
		s.Functions[folder(id)] = f.Name
	}
	s.EventsQueueURL = s.Queues["EventsQueue"]
}

// makeFunctions prepares every deployed function; one without a binary is an error.
func (s *Stack) makeFunctions(context.Context) error {
	described := s.template.OfType("AWS::Lambda::Function")
	for _, id := range slices.Sorted(maps.Keys(s.deployed.Functions)) {
		c, name := s.deployed.Functions[id], folder(id)
		c.Region, c.Log = s.Region, s.log
		logging := cfn.At(described[id].Properties, "LoggingConfig") // which the emulator does not keep
		c.LogFormat, c.LogLevel = s.template.Text(logging["LogFormat"]), s.template.Text(logging["ApplicationLogLevel"])
		c.Host = map[string]string{
			"AWS_ENDPOINT_URL": s.emulator.URL.String(), "AWS_ENDPOINT_URL_LAMBDA": s.AWSEndpointURL,
			"SSL_CERT_FILE": s.CAFile,
		}
		c.Binary = filepath.Join(s.options.Dir, "functions", name, "bootstrap")
		c.LogFile = filepath.Join(s.options.logs(), name+".log")
		made, err := function.New(c)
		if err != nil {
			return fmt.Errorf("preparing functions: %w", err)
		}
		s.functions[id] = made
		s.onClose(made.Close)
	}
	return nil
}

// listen opens the AWS endpoint; functions that invoke others need its address.
func (s *Stack) listen(ctx context.Context) (err error) {
	if s.front, s.AWSEndpointURL, err = listen(ctx, s.options.AWSPort); err != nil {
		return fmt.Errorf("opening the AWS endpoint: %w", err)
	}
	s.onClose(func() { _ = s.front.Close() }) // also closed by its server
	s.LambdaEndpointURL = s.AWSEndpointURL
	return nil
}

// serve starts the AWS endpoint, and the HTTP API if the template has one.
func (s *Stack) serve(ctx context.Context) (err error) {
	front := &invokeapi.API{
		Functions: map[string]*function.Function{}, Lifetime: s.life, Emulator: s.emulator.URL, Go: s.running.Go,
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
	if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port); err != nil {
		return nil, "", fmt.Errorf("listening on port %s: %w", port, err)
	}
	return l, "http://" + l.Addr().String(), nil
}

func (s *Stack) serveOn(l net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 10 << 10}
	go func() { _ = server.Serve(l) }() // ends with ErrServerClosed
	s.onClose(func() { _ = server.Close() })
}

// runMappings starts every event source mapping that was deployed.
func (s *Stack) runMappings() {
	byARN := map[string]*function.Function{}
	for _, f := range s.functions {
		byARN[f.ARN] = f
	}
	client := sqs.NewFromConfig(s.aws(s.emulator.URL.String()))
	for _, m := range s.deployed.Mappings {
		m.Region, m.Queue, m.Function, m.Log = s.Region, client, byARN[m.FunctionARN], s.log
		s.running.Go(func() { m.Run(s.life) })
	}
}

// issueKey makes the stack's tenant by asking the function that issues keys, if there is one, as an operator does.
func (s *Stack) issueKey(ctx context.Context) error {
	f, ok := s.functions["ApikeysFunction"]
	if !ok {
		return nil
	}
	const request = `{"action":"issue","operator":"local-stack","tenant_id":"` + tenant +
		`","description":"made by the local stack"}`
	result, err := f.Invoke(ctx, []byte(request))
	if err != nil {
		return fmt.Errorf("issuing an API key: %w", err)
	}
	var answer struct {
		APIKey string `json:"api_key"`
	}
	if err := json.Unmarshal(result.Payload, &answer); err != nil || answer.APIKey == "" {
		return fmt.Errorf("issuing an API key: the function answered %s; see %s", result.Payload, f.LogFile)
	}
	s.TenantID, s.APIKey = tenant, answer.APIKey
	return nil
}
