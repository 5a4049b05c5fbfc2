package deliver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_refusesSettingsOutOfTheirRange(t *testing.T) {
	const (
		connect  = "CONNECT_TIMEOUT_SECONDS must be 1 to 60"
		attempt  = "ATTEMPT_TIMEOUT_SECONDS must be 1 to 120"
		endpoint = "ENDPOINT_CONCURRENCY must be 1 to 1000"
		maximum  = "MAXIMUM_CONCURRENCY must be 2 to 1000"
		days     = "ACKNOWLEDGED_DAYS must be 1 to 365"
		sample   = "SUCCESS_LOG_SAMPLE must be 0 to 100"
		records  = "RECORD_ACKNOWLEDGED must be all or none"
	)
	for name, test := range map[string]struct {
		change func(*Settings)
		want   []string // lines of the error; none for settings that are taken
	}{
		"no time to connect":             {func(s *Settings) { s.ConnectTimeout = 0 }, []string{connect}},
		"the least time to connect":      {func(s *Settings) { s.ConnectTimeout = 1 }, nil},
		"the most time to connect":       {func(s *Settings) { s.ConnectTimeout = 60 }, nil},
		"too much time to connect":       {func(s *Settings) { s.ConnectTimeout = 61 }, []string{connect}},
		"no time for an attempt":         {func(s *Settings) { s.AttemptTimeout = 0 }, []string{attempt}},
		"the most time for an attempt":   {func(s *Settings) { s.AttemptTimeout = 120 }, nil},
		"too much time for an attempt":   {func(s *Settings) { s.AttemptTimeout = 121 }, []string{attempt}},
		"nothing at a time per endpoint": {func(s *Settings) { s.EndpointConcurrency = 0 }, []string{endpoint}},
		"the most at a time":             {func(s *Settings) { s.EndpointConcurrency = 1000 }, nil},
		"too many at a time":             {func(s *Settings) { s.EndpointConcurrency = 1001 }, []string{endpoint}},
		"fewer processes than SQS takes": {func(s *Settings) { s.MaximumConcurrency = 1 }, []string{maximum}},
		"the fewest processes":           {func(s *Settings) { s.MaximumConcurrency = 2 }, nil},
		"more processes than SQS takes":  {func(s *Settings) { s.MaximumConcurrency = 1001 }, []string{maximum}},
		"acknowledged for no time":       {func(s *Settings) { s.AcknowledgedDays = 0 }, []string{days}},
		"acknowledged for a year":        {func(s *Settings) { s.AcknowledgedDays = 365 }, nil},
		"acknowledged for too long":      {func(s *Settings) { s.AcknowledgedDays = 366 }, []string{days}},
		"no success logged":              {func(s *Settings) { s.SuccessLogSample = 0 }, nil},
		"more successes than all logged": {func(s *Settings) { s.SuccessLogSample = 100.5 }, []string{sample}},
		"all acknowledged recorded":      {func(s *Settings) { s.RecordAcknowledged = "all" }, nil},
		"some acknowledged recorded":     {func(s *Settings) { s.RecordAcknowledged = "some" }, []string{records}},
		"all at once": {func(s *Settings) {
			s.ConnectTimeout, s.AttemptTimeout = -4, -1
			s.EndpointConcurrency, s.MaximumConcurrency, s.EgressAllowCIDRs = -7, -1, "nonsense"
		}, []string{connect, attempt, endpoint, maximum, "EGRESS_ALLOW_CIDRS: entry 1 is not a CIDR prefix"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := wiring.Settings[Settings](t, environment)
			test.change(&s)
			_, err := New(Config{Settings: s})
			var got []string
			if err != nil {
				got = strings.Split(strings.TrimPrefix(err.Error(), "reading the environment: "), "\n")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
