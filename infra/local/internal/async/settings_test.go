package async_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/sam"
)

func TestReadSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		properties string // of the function's EventInvokeConfig
		want       async.Settings
		wrong      string
	}{
		"nothing said": {`"FunctionName":{"Ref":"F"}`,
			async.Settings{MaximumRetryAttempts: 2, MaximumEventAge: 6 * time.Hour}, ""},
		"numbers": {
			`"FunctionName":{"Ref":"F"},"MaximumRetryAttempts":0,"MaximumEventAgeInSeconds":60`,
			async.Settings{MaximumEventAge: time.Minute}, "",
		},
		"a parameter": {
			`"FunctionName":{"Ref":"F"},"MaximumRetryAttempts":{"Ref":"Tries"}`,
			async.Settings{MaximumRetryAttempts: 1, MaximumEventAge: 6 * time.Hour}, "",
		},
		"another function's": {
			`"FunctionName":{"Ref":"G"},"MaximumRetryAttempts":0`,
			async.Settings{MaximumRetryAttempts: 2, MaximumEventAge: 6 * time.Hour}, "",
		},
		"three retries": {`"FunctionName":{"Ref":"F"},"MaximumRetryAttempts":3`, async.Settings{},
			"MaximumRetryAttempts is 3"},
		"half a retry":     {`"FunctionName":{"Ref":"F"},"MaximumRetryAttempts":0.5`, async.Settings{}, "is 0.5"},
		"an age too small": {`"FunctionName":{"Ref":"F"},"MaximumEventAgeInSeconds":59`, async.Settings{}, "is 59, want 60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tpl := &sam.Template{Parameters: map[string]string{"Tries": "1"}}
			resources := `{"Resources":{"C":{"Type":"AWS::Lambda::EventInvokeConfig","Properties":{` + test.properties + `}}}}`
			if err := json.Unmarshal([]byte(resources), &tpl.Body); err != nil {
				t.Fatal(err)
			}
			got, err := async.ReadSettings(tpl, "F")
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("got %v, want %s", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}
