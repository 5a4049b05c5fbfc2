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
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/httpapi"
	"github.com/herald-webhooks/herald/infra/local/internal/invokeapi"
	"github.com/herald-webhooks/herald/infra/local/internal/mapping"
	"github.com/herald-webhooks/herald/infra/local/internal/schedule"
	"github.com/herald-webhooks/herald/internal/testkit/emulator"
)

const (
	tenant = "tenant_acme" // that of the sample events
	// defaultConcurrency is that of a mapping without MaximumConcurrency: Lambda starts with five.
	defaultConcurrency = 5
)

// folder is the name of a function's folder: XyzFunction lives in functions/xyz.
func folder(logicalID string) string {
	return strings.ToLower(strings.TrimSuffix(logicalID, "Function"))
}

// describe tells what was deployed.
func (s *Stack) describe() {
	s.Region, s.StackName = region, s.options.StackName
	s.Tables, s.Keys = s.deployed.Tables, s.deployed.Keys
	s.Queues, s.Functions = map[string]string{}, map[string]string{}
	for id, queue := range s.deployed.Queues {
		s.Queues[id] = queue.URL
	}
	for id, f := range s.deployed.Functions {
		s.Functions[folder(id)] = f.Name
	}
	s.EventsQueueURL = s.Queues["EventsQueue"]
}

// makeFunctions prepares every deployed function; one without a binary is an error.
func (s *Stack) makeFunctions(context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(s.deployed.Functions)) {
		f, name := s.deployed.Functions[id], folder(id)
		format, level := s.logging(id)
		made, err := function.New(function.Config{
			Name: f.Name, ARN: f.ARN, Region: s.Region, Handler: f.Handler, MemoryMB: f.MemoryMB,
			Timeout: time.Duration(f.TimeoutSeconds) * time.Second, Concurrency: f.Concurrency,
			LogFormat: format, LogLevel: level, Variables: f.Variables,
			Host:    map[string]string{"AWS_ENDPOINT_URL": s.emulator.URL.String(), "SSL_CERT_FILE": s.CAFile},
			Binary:  filepath.Join(s.options.Dir, "functions", name, "bootstrap"),
			LogFile: filepath.Join(s.options.logs(), name+".log"), Log: s.log,
		})
		if err != nil {
			return fmt.Errorf("preparing functions: %w", err)
		}
		s.functions[id] = made
		s.onClose(made.Close)
		settings, err := async.ReadSettings(s.template, id)
		if err != nil {
			return fmt.Errorf("preparing functions: %w", err)
		}
		s.async[id] = &async.Invoker{Settings: settings, Name: f.Name, Function: made, Log: s.log}
		s.onClose(s.async[id].Wait)
	}
	return nil
}

// logging reads a function's LoggingConfig from the template: the emulator does not keep it.
func (s *Stack) logging(id string) (format, level string) {
	for _, r := range s.template.Resources("AWS::Lambda::Function") {
		if config, _ := r.Properties["LoggingConfig"].(map[string]any); r.ID == id {
			return s.template.Text(config["LogFormat"]), s.template.Text(config["ApplicationLogLevel"])
		}
	}
	return "", ""
}

// serve starts the HTTP API, if the template has one, and the AWS endpoint.
func (s *Stack) serve(ctx context.Context) error {
	front := &invokeapi.API{
		Functions: map[string]*function.Function{}, Async: map[string]*async.Invoker{},
		Lifetime: s.life, Emulator: s.emulator.URL,
	}
	for id, f := range s.functions {
		front.Functions[f.Name], front.Async[f.Name] = f, s.async[id]
	}
	var err error
	if s.AWSEndpointURL, err = s.listenAndServe(ctx, s.options.AWSPort, front.Handler()); err != nil {
		return fmt.Errorf("serving the AWS endpoint: %w", err)
	}
	s.LambdaEndpointURL = s.AWSEndpointURL
	apis := s.template.Resources("AWS::ApiGatewayV2::Api")
	if len(apis) == 0 {
		return nil
	}
	if len(apis) > 1 {
		return errors.New("the template has more than one HTTP API")
	}
	api := &httpapi.API{
		ID: "local", AccountID: emulator.Account, Functions: map[string]httpapi.Function{}, Lifetime: s.life,
	}
	if api.Routes, err = httpapi.Routes(apis[0].Properties); err != nil {
		return fmt.Errorf("reading routes: %w", err)
	}
	for id, f := range s.functions {
		api.Functions[id] = f
	}
	if api.AccessLog.Lines, err = s.logFile("http-api.log"); err != nil {
		return err
	}
	for _, stage := range s.template.Resources("AWS::ApiGatewayV2::Stage") {
		settings, _ := stage.Properties["AccessLogSettings"].(map[string]any)
		api.AccessLog.Format = s.template.Text(settings["Format"])
	}
	if s.APIURL, err = s.listenAndServe(ctx, s.options.APIPort, api); err != nil {
		return fmt.Errorf("serving the HTTP API: %w", err)
	}
	return nil
}

func (s *Stack) listenAndServe(ctx context.Context, port int, handler http.Handler) (url string, err error) {
	l, err := listen(ctx, port)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 10 << 10}
	go func() { _ = server.Serve(l) }() // ends with ErrServerClosed
	s.onClose(func() { _ = server.Close() })
	return "http://" + l.Addr().(*net.TCPAddr).String(), nil
}

// runMappings starts every event source mapping that was deployed.
func (s *Stack) runMappings() {
	client := sqs.NewFromConfig(s.aws(s.emulator.URL.String()))
	for _, m := range s.deployed.Mappings {
		run := &mapping.Mapping{
			Config: mapping.Config{
				QueueARN: m.QueueARN, Region: s.Region, BatchSize: m.BatchSize, PartialResponses: m.PartialResponses,
				Window: time.Duration(m.WindowSeconds) * time.Second, MaximumConcurrency: m.MaximumConcurrency,
			},
			Queue: client, Log: s.log,
		}
		if run.MaximumConcurrency == 0 {
			run.MaximumConcurrency = defaultConcurrency
		}
		for _, q := range s.deployed.Queues {
			if q.ARN == m.QueueARN {
				run.QueueURL = q.URL
			}
		}
		for id, f := range s.deployed.Functions {
			if m.FunctionARN == f.ARN || strings.HasPrefix(m.FunctionARN, f.ARN+":") {
				run.Function = s.functions[id]
			}
		}
		s.mappings.Go(func() { run.Run(s.life) })
	}
	s.onClose(s.mappings.Wait)
}

// readSchedules finds the schedules that the template declares.
func (s *Stack) readSchedules(context.Context) (err error) {
	if s.schedules, err = schedule.Read(s.template, s.Region, emulator.Account); err != nil {
		return err
	}
	for _, one := range s.schedules {
		if s.async[one.Function] == nil {
			return fmt.Errorf("schedule %s: %s is not a function of the template", one.ID, one.Function)
		}
	}
	return nil
}

// runSchedules starts every schedule.
func (s *Stack) runSchedules() {
	var running sync.WaitGroup
	for _, one := range s.schedules {
		running.Go(func() { one.Run(s.life, s.async[one.Function].Send) })
	}
	s.onClose(running.Wait)
}

// Schedules describes each schedule that the stack fires, in a line.
func (s *Stack) Schedules() []string {
	var lines []string
	for _, one := range s.schedules {
		lines = append(lines, one.String())
	}
	return lines
}

// issueKey makes the stack's tenant by asking the function that issues keys, as an operator does.
func (s *Stack) issueKey(ctx context.Context) error {
	if s.options.NoTenant {
		return nil
	}
	f, ok := s.functions["ApikeysFunction"]
	if !ok {
		return errors.New("the template has no function that issues API keys")
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
