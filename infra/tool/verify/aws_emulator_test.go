//go:build emulator

package verify

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/emulator"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Three kinds of lines are read: those of deliver and of Lambda in a log group with JSON, and those of the local
// stack's file.
func TestLogs_areReadFromTheRunsBeginning(t *testing.T) {
	began := time.Now().Truncate(time.Second)
	client, group, stream := cloudwatchlogs.NewFromConfig(testkit.Moto(t)), "/aws/lambda/herald-deliver", "one"
	if _, err := client.CreateLogGroup(t.Context(),
		&cloudwatchlogs.CreateLogGroupInput{LogGroupName: &group}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateLogStream(t.Context(),
		&cloudwatchlogs.CreateLogStreamInput{LogGroupName: &group, LogStreamName: &stream}); err != nil {
		t.Fatal(err)
	}
	var lines []logtypes.InputLogEvent
	var file strings.Builder
	for n, text := range []string{
		`{"time":"AT","type":"platform.report","record":{"metrics":{"durationMs":9}}}`,
		`{"timestamp":"AT","message":"batch","records":10}`,
		`no JSON`,
		`{"timestamp":"AT","message":"batch","records":3}`,
		`{"time":"AT","type":"platform.report","record":{"metrics":{"durationMs":9,"initDurationMs":81.5}}}`,
		`{"time":"AT","type":"platform.report","record":{"metrics":{"durationMs":9}}}`,
	} {
		at := began.Add(time.Duration(n-2) * time.Second) // two are older
		text = strings.Replace(text, "AT", at.UTC().Format(time.RFC3339Nano), 1)
		lines = append(lines, logtypes.InputLogEvent{Timestamp: aws.Int64(at.UnixMilli()), Message: &text})
		if n > 0 { // no report is older than the file
			file.WriteString(text + "\n")
		}
	}
	if _, err := client.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{
		LogGroupName: &group, LogStreamName: &stream, LogEvents: lines,
	}); err != nil {
		t.Fatal(err)
	}
	local := LocalLogs(t.TempDir())
	if err := os.WriteFile(filepath.Join(string(local), "deliver.log"), []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want := log{batches: []int{3}, runs: 2, inits: []float64{81.5}}
	for _, logs := range []Logs{CloudWatchLogs{Client: client, Stack: "herald"}, local} {
		r := run{Config: Config{Logs: logs}, began: began}
		got, err := r.log(t.Context(), "deliver")
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(log{})); err != nil || diff != "" {
			t.Errorf("%T: %v (-want +got)\n%s", logs, err, diff)
		}
	}
	says, err := coldStarts(t.Context(), &run{Config: Config{Logs: local}, began: began})
	if !strings.HasPrefix(says, "deliver 1 of 2 runs, 82–82 ms; no report of fanout, webhooks, ") || err != nil {
		t.Errorf("says %q, %v", says, err)
	}
}

// moto enforces no rights, so it allows every call. This shows that AWS would accept each call's form, and that none
// changes anything.
func TestProbe_triesCallsThatChangeNothing(t *testing.T) {
	cfg := testkit.Moto(t)
	tables := testkit.Tables(t, cfg)
	names := map[string]string{
		"Endpoints": tables.Endpoints, "ApiKeys": tables.ApiKeys, "DeadLetters": tables.DeadLetters,
		"Backlog": tables.Backlog, "EndpointHealth": tables.EndpointHealth, "Deliveries": tables.Deliveries,
		"SecretsKey": testkit.Key(t, cfg), "DeadLetterKey": testkit.Key(t, cfg),
	}
	code, err := codeOf(Rights, names, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	const other = `{"calls":[{"action":"dynamodb:ListTables","input":{}}],"action":"kms:ListKeys","until":9999999999}`
	got, err := probed(t, aws.ToString(cfg.BaseEndpoint), code, other)
	if err != nil || len(got) != len(Rights) {
		t.Fatalf("%d codes for %d calls, %v", len(got), len(Rights), err)
	}
	for n, c := range Rights {
		if fault := c.judge(got[n]); (fault == "") != c.Allowed || strings.Contains(fault, "could not be tried") {
			t.Errorf("%s of %s: %q: %s", c.Action, c.Function, got[n], fault)
		}
	}
	client := dynamodb.NewFromConfig(cfg)
	for id, table := range names {
		if strings.HasSuffix(id, "Key") {
			continue
		}
		if out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}); err != nil || out.Count != 0 {
			t.Errorf("%s has %d items now, %v", id, out.Count, err)
		}
	}
}

func TestProbe_refusesToWorkWhenItIsOld(t *testing.T) {
	calls := []Call{{Function: "fanout", Action: "dynamodb:ListTables", Input: `{}`}}
	for until, works := range map[time.Time]bool{
		time.Now().Add(time.Hour): true, time.Now().Add(-2 * time.Second): false, {}: false,
	} {
		code, err := codeOf(calls, nil, until)
		if err != nil {
			t.Fatal(err)
		}
		got, err := probed(t, aws.ToString(testkit.Moto(t).BaseEndpoint), code, `{"until":9999999999}`)
		if (err == nil) != works || works != (len(got) == 1) {
			t.Errorf("until %s: %q, %v", until, got, err)
		}
	}
}

// moto runs no function without Docker, so this test does not show that the function answers.
func TestProber_holdsARoleAndIsGone(t *testing.T) {
	cfg := testkit.Moto(t)
	const role = `{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Statement":[{"Effect":"Allow",
		"Action":"sts:AssumeRole","Principal":{"Service":"lambda.amazonaws.com"}}]}}}`
	cloud, stack, function, probe := cloudformation.NewFromConfig(cfg), "probed", "probed-fanout", "probed-probe-fano"
	if _, err := cloud.CreateStack(t.Context(), &cloudformation.CreateStackInput{
		StackName: &stack, TemplateBody: aws.String(`{"Resources":{"One":` + role + `,"Two":` + role + `}}`),
	}); err != nil {
		t.Fatal(err)
	}
	code, err := codeOf(nil, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	described := &lambda.GetFunctionConfigurationInput{FunctionName: &probe}
	var p Prober
	var arn string
	for _, id := range []string{"One", "Two"} { // the second time that of a run which was killed is there
		p = NewProber(cfg, stack)
		if err := p.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		names, err := client.Names(t.Context(), cloud, stack)
		if err != nil {
			t.Fatal(err)
		}
		arn = "arn:aws:iam::" + emulator.Account + ":role/" + names[id]
		if err := p.hold(t.Context(), probe, &arn, code); err != nil {
			t.Fatal(err)
		}
		if held, err := p.lambda.GetFunctionConfiguration(t.Context(), described); err != nil || *held.Role != arn {
			t.Errorf("holds %v, %v, want %s", held, err, arn)
		}
		if err := p.hold(t.Context(), probe, &arn, code); err == nil {
			t.Error("a function of any code got a role")
		}
	}
	for range 2 { // the second time nothing is there
		if err := p.remove(t.Context(), probe); err != nil {
			t.Error(err)
		}
	}
	if err := p.hold(t.Context(), function, &arn, code); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Try(t.Context(), "fanout", Rights); err == nil || !strings.Contains(err.Error(), "the probe") {
		t.Errorf("tried: %v", err)
	}
	var gone *lambdatypes.ResourceNotFoundException
	if _, err := p.lambda.GetFunctionConfiguration(t.Context(), described); !errors.As(err, &gone) {
		t.Errorf("after its end: %v", err)
	}
}

// probed runs the probe's code with the AWS SDK for Python.
func probed(t *testing.T, endpoint string, code []byte, event string) (codes []string, err error) {
	t.Helper()
	dir := t.TempDir()
	archive, err := zip.NewReader(bytes.NewReader(code), int64(len(code)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, archive); err != nil {
		t.Fatal(err)
	}
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c",
		"import index, json, sys; print(json.dumps(index.handler(json.load(sys.stdin), None)))")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(event)
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(out, &codes)
	return codes, err
}
