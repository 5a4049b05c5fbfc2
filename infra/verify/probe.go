package verify

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

//go:embed aws/probe.py
var probeCode string

// Probe is a function that holds the role of another one of the stack, and makes calls with it.
type Probe struct {
	name, stack string
	lambda      *lambda.Client
	physical    map[string]string // resources by logical id
}

// NewProbe is for the stack. The function is made by the first call of Try.
func NewProbe(ctx context.Context, cfg aws.Config, stack string) (*Probe, error) {
	resources, err := client.Resources(ctx, cloudformation.NewFromConfig(cfg), stack)
	if err != nil {
		return nil, err
	}
	return &Probe{
		name: stack + "-verify-probe", stack: stack, lambda: lambda.NewFromConfig(cfg), physical: client.Names(resources),
	}, nil
}

// Try makes the calls with the role of a function, and returns AWS's code for each, "" where there was none.
func (p *Probe) Try(ctx context.Context, function string, calls []Call) ([]string, error) {
	own, err := p.lambda.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(p.stack + "-" + function),
	})
	if err != nil {
		return nil, fmt.Errorf("looking for the role of %s: %w", function, err)
	}
	if err := p.hold(ctx, own.Role); err != nil {
		return nil, fmt.Errorf("giving the probe the role of %s: %w", function, err)
	}
	payload, err := requestOf(calls, p.physical)
	if err != nil {
		return nil, err
	}
	return p.ask(ctx, path.Base(aws.ToString(own.Role)), payload)
}

// requestOf is the probe's request to make the calls, with the names of resources.
func requestOf(calls []Call, physical map[string]string) ([]byte, error) {
	var tries []map[string]any
	for _, c := range calls {
		input := c.Named(func(id string) string { return physical[id] })
		tries = append(tries, map[string]any{"action": c.Action, "input": input})
	}
	payload, err := json.Marshal(map[string]any{"calls": tries})
	if err != nil {
		return nil, fmt.Errorf("encoding the calls: %w", err)
	}
	return payload, nil
}

// answer is the probe's: its caller, and AWS's codes.
type answer struct {
	Who   string   `json:"who"`
	Codes []string `json:"codes"`
}

// hold makes the function anew with the role. One that is there already may have any code: it gets no role.
func (p *Probe) hold(ctx context.Context, role *string) error {
	code, err := zipped("index.py", probeCode)
	if err != nil {
		return err
	}
	if err := p.Close(ctx); err != nil {
		return err
	}
	if _, err := p.lambda.CreateFunction(ctx, &lambda.CreateFunctionInput{
		FunctionName: &p.name, Role: role, Runtime: types.RuntimePython313, Handler: aws.String("index.handler"),
		Architectures: []types.Architecture{types.ArchitectureArm64}, Timeout: aws.Int32(30), MemorySize: aws.Int32(256),
		Code: &types.FunctionCode{ZipFile: code}, Description: aws.String("Of herald verify. It can be deleted at any time."),
	}); err != nil {
		return err
	}
	const limit = 2 * time.Minute
	made := &lambda.GetFunctionInput{FunctionName: &p.name}
	return lambda.NewFunctionActiveV2Waiter(p.lambda).Wait(ctx, made, limit)
}

// ask invokes the function until it holds the role: a process of the one before may still answer.
func (p *Probe) ask(ctx context.Context, role string, payload []byte) ([]string, error) {
	var got answer
	for range 30 {
		out, err := p.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &p.name, Payload: payload})
		if err != nil {
			return nil, fmt.Errorf("invoking the probe: %w", err)
		}
		if out.FunctionError != nil {
			return nil, fmt.Errorf("the probe failed: %s", out.Payload)
		}
		if err := json.Unmarshal(out.Payload, &got); err != nil {
			return nil, fmt.Errorf("reading the probe's answer: %w", err)
		}
		if strings.Contains(got.Who, ":assumed-role/"+role+"/") {
			return got.Codes, nil
		}
		time.Sleep(time.Second)
	}
	return nil, fmt.Errorf("the probe is still %s", got.Who)
}

// Close deletes the function.
func (p *Probe) Close(ctx context.Context) error {
	_, err := p.lambda.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &p.name})
	var gone *types.ResourceNotFoundException
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("deleting %s: %w", p.name, err)
	}
	return nil
}

func zipped(name, text string) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	file, err := archive.Create(name)
	if err == nil {
		_, err = file.Write([]byte(text))
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		return nil, fmt.Errorf("packing %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// Prober makes calls with the role of a function: a Probe, or a test's.
type Prober interface {
	Try(ctx context.Context, function string, calls []Call) (codes []string, err error)
	Close(ctx context.Context) error
}

// roles makes the probe hold each role in turn.
func roles(ctx context.Context, r *run) (says string, err error) {
	switch {
	case r.Local:
		return "", notShown("the emulator enforces no rights")
	case r.Probe == nil:
		return "", notShown("nobody asked for it: --probe makes a function that holds each role in turn")
	}
	defer func() { err = errors.Join(err, r.Probe.Close(context.WithoutCancel(ctx))) }()
	calls := map[string][]Call{}
	for _, c := range Rights {
		calls[c.Function] = append(calls[c.Function], c)
	}
	var wrong []string
	refused := 0
	for _, function := range slices.Sorted(maps.Keys(calls)) {
		codes, err := r.Probe.Try(ctx, function, calls[function])
		if err != nil {
			return "", err
		}
		for n, c := range calls[function] {
			if fault := c.judge(codes[n]); fault != "" {
				wrong = append(wrong, fault)
			}
			if !c.Allowed {
				refused++
			}
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d calls were refused and %d allowed, as they should be", refused, len(Rights)-refused), nil
}

// judge returns the fault of AWS's code for the call.
func (c Call) judge(code string) string {
	refused := strings.HasPrefix(code, "AccessDenied")
	allowed := code == "" || code == "ConditionalCheckFailedException"
	switch {
	case !refused && !allowed:
		return fmt.Sprintf("%s by %s could not be tried: %s", c.Action, c.Function, code)
	case refused && c.Allowed:
		return fmt.Sprintf("%s may not %s %s", c.Function, c.Action, c.Input)
	case allowed && !c.Allowed:
		return fmt.Sprintf("%s MAY %s %s", c.Function, c.Action, c.Input)
	}
	return ""
}
