package verify

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/kit/client"
)

//go:embed aws/probe.py
var probeCode string

// Prober makes calls with the roles of a stack's functions. It creates a function for each role, and removes it.
type Prober struct {
	stack  string
	lambda *lambda.Client
	cloud  *cloudformation.Client
}

// NewProber returns a prober for the stack.
func NewProber(cfg aws.Config, stack string) Prober {
	return Prober{stack: stack, lambda: lambda.NewFromConfig(cfg), cloud: cloudformation.NewFromConfig(cfg)}
}

// Remove removes the functions that an interrupted run has left. Each holds a role of the stack's.
func (p Prober) Remove(ctx context.Context) error {
	for _, function := range slices.Concat(batching, others) {
		if err := p.remove(ctx, p.probe(function)); err != nil {
			return err
		}
	}
	return nil
}

// probe is the name of a function's probe. Probes are deleted by name, so the name must differ from that of every
// function of any stack. It has at most 64 characters, as Lambda requires.
func (p Prober) probe(function string) string { return p.stack + "-probe-" + function[:4] }

// Try makes the calls with the role of a function, and returns AWS's code for each, "" where there was none.
func (p Prober) Try(ctx context.Context, function string, calls []Call) (codes []string, err error) {
	own, err := p.lambda.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(p.stack + "-" + function),
	})
	if err != nil {
		return nil, fmt.Errorf("looking for the role of %s: %w", function, err)
	}
	names, err := client.Names(ctx, p.cloud, p.stack)
	if err != nil {
		return nil, err
	}
	code, err := codeOf(calls, names, time.Now().Add(probesWork))
	if err != nil {
		return nil, err
	}
	probe := p.probe(function)
	defer func() { err = errors.Join(err, p.remove(context.WithoutCancel(ctx), probe)) }()
	if err := p.hold(ctx, probe, own.Role, code); err != nil {
		return nil, fmt.Errorf("giving a probe the role of %s: %w", function, err)
	}
	out, err := p.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &probe})
	if err != nil {
		return nil, fmt.Errorf("invoking the probe: %w", err)
	}
	if out.FunctionError != nil {
		return nil, fmt.Errorf("the probe failed: %s", out.Payload)
	}
	if err := json.Unmarshal(out.Payload, &codes); err != nil {
		return nil, fmt.Errorf("reading the probe's answer: %w", err)
	}
	return codes, nil
}

// probesWork is how long a probe works after it was made. A probe that was left behind does nothing after that.
const probesWork = 5 * time.Minute

// codeOf is the archive of a probe that makes the calls, with the names of resources, until a moment. Its calls are in
// its code, so that no caller can have it do anything else.
func codeOf(calls []Call, physical map[string]string, until time.Time) ([]byte, error) {
	type try struct {
		Action string         `json:"action"`
		Input  jsontext.Value `json:"input"`
	}
	written := struct {
		Until int64 `json:"until"`
		Calls []try `json:"calls"`
	}{Until: until.Unix()}
	for _, c := range calls {
		input := c.Named(func(id string) string { return physical[id] })
		written.Calls = append(written.Calls, try{Action: c.Action, Input: input})
	}
	text, err := json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("encoding the calls: %w", err)
	}
	return zipped(map[string]string{"index.py": probeCode, "calls.json": string(text)})
}

// hold makes a probe with the role. A function that is there already may have any code: it gets no role.
func (p Prober) hold(ctx context.Context, probe string, role *string, code []byte) error {
	if _, err := p.lambda.CreateFunction(ctx, &lambda.CreateFunctionInput{
		FunctionName: &probe, Role: role, Runtime: types.RuntimePython313, Handler: aws.String("index.handler"),
		Architectures: []types.Architecture{types.ArchitectureArm64}, Timeout: aws.Int32(30), MemorySize: aws.Int32(256),
		Code: &types.FunctionCode{ZipFile: code}, Description: aws.String("Of herald verify. It can be deleted at any time."),
	}); err != nil {
		return err
	}
	const limit = 2 * time.Minute
	return lambda.NewFunctionActiveV2Waiter(p.lambda).Wait(ctx, &lambda.GetFunctionInput{FunctionName: &probe}, limit)
}

func (p Prober) remove(ctx context.Context, probe string) error {
	_, err := p.lambda.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &probe})
	var gone *types.ResourceNotFoundException
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("deleting the function %s: %w", probe, err)
	}
	return nil
}

func zipped(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := archive.Create(name)
		if err == nil {
			_, err = file.Write([]byte(files[name]))
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return b.Bytes(), nil
}

// roles has a probe hold each role in turn.
func roles(ctx context.Context, r *run) (says string, err error) {
	switch {
	case r.Local:
		return "", notShown("the emulator enforces no rights")
	case r.Try == nil:
		return "", notShown("it was not asked for: --probe makes functions that hold each role in turn")
	}
	calls := map[string][]Call{}
	for _, c := range Rights {
		calls[c.Function] = append(calls[c.Function], c)
	}
	var wrong []string
	refused := 0
	for _, function := range slices.Sorted(maps.Keys(calls)) {
		codes, err := r.Try(ctx, function, calls[function])
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
	allowed := slices.Contains([]string{"", "ConditionalCheckFailedException", "TransactionCanceledException"}, code)
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
