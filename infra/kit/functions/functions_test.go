package functions

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/operators/apikeys"
	"github.com/herald-webhooks/herald/internal/operators/control"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/pipeline/deadletter"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/pipeline/fanout"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Every function finds all that it needs in its environment.
func TestSettings_areWholeForEveryFunction(t *testing.T) {
	for function, settings := range map[string]any{
		"apikeys": Settings[apikeys.Settings](t, Options{}, "apikeys"),
		"control": Settings[control.Settings](t, Options{}, "control"),
		"inspect": Settings[inspect.Settings](t, Options{}, "inspect"),
		"replay":  Settings[replay.Settings](t, Options{}, "replay"),
		"fanout":  Settings[fanout.Settings](t, Options{}, "fanout"),
		"deliver": Settings[deliver.Settings](t, Options{}, "deliver"),
		"release": Settings[release.Settings](t, Options{}, "release"),

		"deadletter": Settings[deadletter.Settings](t, Options{}, "deadletter"),
		"webhooks":   Settings[webhooks.Settings](t, Options{}, "webhooks"),
	} {
		if reflect.ValueOf(settings).IsZero() {
			t.Errorf("%s has no settings", function)
		}
	}
}

func TestRead_replacesParametersAndResources(t *testing.T) {
	got := Settings[deliver.Settings](t, Options{
		Parameters: map[string]string{parameters.MaxRetries: "3"},
		Resources:  map[string]string{"Backlog": "my-backlog"},
	}, "deliver")
	type read struct {
		retries              int
		backlog, retry, slow string
		minute               config.Seconds
	}
	want := read{3, "my-backlog", "https://queues/RetryQueue", "https://queues/SlowQueue.Arn", 60}
	if got := (read{got.MaxRetries, got.BacklogTable, got.RetryQueueURL, got.SlowQueueARN, got.Minute}); got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestRead_refusesAParameterThatTheTemplateLacks(t *testing.T) {
	_, err := Read[deliver.Settings](Options{Parameters: map[string]string{"MaxRetrys": "3"}}, "deliver")
	if err == nil || !strings.Contains(err.Error(), "no parameter MaxRetrys") {
		t.Errorf("a parameter that does not exist: %v", err)
	}
}

func TestDefaultRules_areTheTemplates(t *testing.T) {
	rules, number := DefaultRules(7), func(parameter string) int {
		n, err := strconv.Atoi(Value(t, Options{}, parameter))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	seconds := func(parameter string) time.Duration { return time.Duration(number(parameter)) * time.Second }
	want := map[string]time.Duration{
		parameters.RetryBaseSeconds: rules.Schedule.Base, parameters.LongWaitSeconds: rules.Schedule.Long,
		parameters.AttemptTimeoutSeconds:  model.AttemptTimeout,
		parameters.FunctionTimeoutSeconds: model.DeliverTimeout,
		parameters.QueueVisibilitySeconds: model.Visibility,
	}
	got := map[string]time.Duration{}
	for parameter := range want {
		got[parameter] = seconds(parameter)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times (-of rules and model +of the template):\n%s", diff)
	}
	if got, want := rules.PerEndpoint, number(parameters.EndpointConcurrency); got != want {
		t.Errorf("%d attempts to an endpoint at a time, want %d", got, want)
	}
}
