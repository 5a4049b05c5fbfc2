package schedule

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/sam"
)

// template has the resources, in the form in which SAM's translator writes them.
func template(t *testing.T, resources string) *sam.Template {
	t.Helper()
	tpl := &sam.Template{}
	body := `{"Parameters":{"Rate":{"Default":"rate(1 hour)"}},"Resources":{` + resources + `}}`
	if err := json.Unmarshal([]byte(body), &tpl.Body); err != nil {
		t.Fatal(err)
	}
	return tpl
}

// scheduled is a schedule with these properties and target properties.
func scheduled(properties, target string) string {
	return `"Tick":{"Type":"AWS::Scheduler::Schedule","Properties":{` + properties + `,"Target":{` + target + `}}}`
}

const (
	everyMinute = `"ScheduleExpression":"rate(1 minute)"`
	toWork      = `"Arn":{"Fn::GetAtt":["WorkFunction","Arn"]}`
)

func read(t *testing.T, resources string) ([]Schedule, error) {
	t.Helper()
	return Read(template(t, resources), "us-east-1", "123456789012")
}

func TestRead(t *testing.T) {
	t.Parallel()
	rule := func(properties string) string {
		return `"Tick":{"Type":"AWS::Events::Rule","Properties":{` + properties + `,"Targets":[{` + toWork + `}]}}`
	}
	describe := func(every string) []string { return []string{"WorkFunction is invoked by " + every} }
	for name, test := range map[string]struct {
		resources string
		want      []string
	}{
		"a minute is five seconds": {scheduled(everyMinute, toWork), describe("rate(1 minute), here every 5s")},
		"a rate may be a parameter's": {
			scheduled(`"ScheduleExpression":{"Ref":"Rate"}`, toWork), describe("rate(1 hour), here every 5m0s"),
		},
		"a rule is a schedule": {rule(`"ScheduleExpression":"rate(2 days)"`),
			describe("rate(2 days), here every 4h0m0s")},
		"a disabled schedule is left out": {scheduled(everyMinute+`,"State":"DISABLED"`, toWork), nil},
		"a disabled rule is left out":     {rule(everyMinute + `,"State":"DISABLED"`), nil},
		"an enabled one is not": {rule(everyMinute + `,"State":"ENABLED"`),
			describe("rate(1 minute), here every 5s")},
		"other resources are not schedules": {`"Q":{"Type":"AWS::SQS::Queue"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := read(t, test.resources)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range found {
				got = append(got, s.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("schedules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead_refusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ resources, want string }{
		"a cron expression":         {scheduled(`"ScheduleExpression":"cron(0 8 * * ? *)"`, toWork), "cron"},
		"a rate of zero":            {scheduled(`"ScheduleExpression":"rate(0 minutes)"`, toWork), "rate(0 minutes)"},
		"a rate in seconds":         {scheduled(`"ScheduleExpression":"rate(5 seconds)"`, toWork), "rate(5 seconds)"},
		"a target elsewhere":        {scheduled(everyMinute, `"Arn":"arn:aws:sqs:x:1:q"`), "functions of the template"},
		"an input that is not JSON": {scheduled(everyMinute, toWork+`,"Input":"{"`), "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, test.resources)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range []string{"schedule Tick", test.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
		})
	}
}

// fired runs the first schedule for three and a half minutes of the template's time and returns when it
// fired and what it sent first.
func fired(t *testing.T, resources string) (at []time.Duration, first map[string]any) {
	t.Helper()
	all, err := read(t, resources)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), async.Scale(210*time.Second))
		defer cancel()
		began := time.Now()
		all[0].Run(ctx, func(_ context.Context, payload []byte) {
			at = append(at, time.Since(began))
			if first == nil {
				if err := json.Unmarshal(payload, &first); err != nil {
					t.Error(err)
				}
			}
		})
	})
	delete(first, "id")
	return at, first
}

func TestSchedule_Run_firesAsTheScheduler(t *testing.T) {
	t.Parallel()
	at, event := fired(t, scheduled(everyMinute, toWork))
	if diff := cmp.Diff([]time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second}, at); diff != "" {
		t.Errorf("fired (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"version": "0", "detail-type": "Scheduled Event", "source": "aws.scheduler", "account": "123456789012",
		"time": "2000-01-01T00:00:00Z", "region": "us-east-1", "detail": "{}",
		"resources": []any{"arn:aws:scheduler:us-east-1:123456789012:schedule/default/Tick"},
	}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestSchedule_Run_firesAsARule(t *testing.T) {
	t.Parallel()
	at, event := fired(t, `"Tick":{"Type":"AWS::Events::Rule","Properties":{`+everyMinute+`,"Targets":[{`+toWork+`}]}}`)
	if diff := cmp.Diff([]time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}, at); diff != "" {
		t.Errorf("fired (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"version": "0", "detail-type": "Scheduled Event", "source": "aws.events", "account": "123456789012",
		"time": "2000-01-01T00:00:05Z", "region": "us-east-1", "detail": map[string]any{},
		"resources": []any{"arn:aws:events:us-east-1:123456789012:rule/Tick"},
	}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestSchedule_Run_sendsItsInput(t *testing.T) {
	t.Parallel()
	_, event := fired(t, scheduled(everyMinute, toWork+`,"Input":"{\"Do\":\"tick\"}"`))
	if diff := cmp.Diff(map[string]any{"Do": "tick"}, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}
