package config_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/config"
)

// hosts notes the hosts of requests, and answers none.
type hosts struct{ asked []string }

func (h *hosts) Do(r *http.Request) (*http.Response, error) {
	h.asked = append(h.asked, r.URL.Host)
	return nil, errors.New("not connected")
}

// The variable is the SDK's own; FipsEndpoints sets it. All services that the functions call have such endpoints in the
// Regions that the template's rule names, as the SDK's tables have them.
func TestAWS_callsFIPSEndpointsWhereTheVariableSaysSo(t *testing.T) {
	for variable, want := range map[string][]string{
		"": {
			"sqs.us-east-1.amazonaws.com", "dynamodb.us-east-1.amazonaws.com", "kms.us-east-1.amazonaws.com",
			"lambda.us-east-1.amazonaws.com", "events.us-east-1.amazonaws.com", "logs.us-east-1.amazonaws.com",
		},
		"true": {
			"sqs-fips.us-east-1.amazonaws.com", "dynamodb-fips.us-east-1.amazonaws.com", "kms-fips.us-east-1.amazonaws.com",
			"lambda-fips.us-east-1.amazonaws.com", "events-fips.us-east-1.amazonaws.com", "logs-fips.us-east-1.amazonaws.com",
		},
	} {
		environment(t)
		t.Setenv("AWS_REGION", "us-east-1")
		t.Setenv("AWS_USE_FIPS_ENDPOINT", variable)
		cfg, err := config.AWS()
		if err != nil {
			t.Fatal(err)
		}
		h := &hosts{}
		cfg.HTTPClient, cfg.RetryMaxAttempts = h, 1
		for n, call := range calls(t.Context(), cfg) {
			if err := call(); err == nil {
				t.Errorf("call %d is answered", n)
			}
		}
		if diff := cmp.Diff(want, h.asked); diff != "" {
			t.Errorf("AWS_USE_FIPS_ENDPOINT=%q (-want +asked):\n%s", variable, diff)
		}
	}
}

// calls are a call of each service.
func calls(ctx context.Context, cfg aws.Config) []func() error {
	text := aws.String("x")
	return []func() error{
		func() error { _, err := sqs.NewFromConfig(cfg).ListQueues(ctx, &sqs.ListQueuesInput{}); return err },
		func() error {
			_, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		},
		func() error { _, err := kms.NewFromConfig(cfg).ListKeys(ctx, &kms.ListKeysInput{}); return err },
		func() error {
			_, err := lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: text})
			return err
		},
		func() error {
			_, err := eventbridge.NewFromConfig(cfg).ListEventBuses(ctx, &eventbridge.ListEventBusesInput{})
			return err
		},
		func() error {
			_, err := cloudwatchlogs.NewFromConfig(cfg).DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{})
			return err
		},
	}
}

// A program cannot change its mode once it has begun.
func TestFIPSModule_isThatOfTheMode(t *testing.T) {
	mode := os.Getenv("FIPS_TEST_MODE")
	if mode != "" {
		if got := config.FIPSModule(); (got != "") != (mode == "on") {
			t.Errorf("fips140=%s: the module %q", mode, got)
		}
		return
	}
	for _, mode := range []string{"off", "on"} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), "GODEBUG=fips140="+mode, "FIPS_TEST_MODE="+mode)
		if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("fips140=%s: %v\n%s", mode, err, out)
		}
	}
}
