package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// ages is an audit log with a line of acme at each age. Every call takes a time.
type ages struct {
	of    []time.Duration
	takes time.Duration
	fails error
	asked []*cloudwatchlogs.FilterLogEventsInput
}

func (l *ages) FilterLogEvents(
	ctx context.Context, in *cloudwatchlogs.FilterLogEventsInput, _ ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	l.asked = append(l.asked, in)
	select {
	case <-time.After(l.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := &cloudwatchlogs.FilterLogEventsOutput{}
	for _, age := range l.of {
		at := now.Add(-age).UnixMilli()
		if at >= *in.StartTime && at <= *in.EndTime {
			text := fmt.Sprintf(`{"operator_claimed":"ann","action":"pause","tenant_id":"acme","reason":"%s ago"}`, age)
			out.Events = append(out.Events, types.FilteredLogEvent{Message: &text, Timestamp: aws.Int64(at)})
		}
	}
	return out, l.fails
}

func (l *ages) trail() Trail {
	return Trail{Stack{Name: "herald-test", Outputs: map[string]string{"AuditLogGroupName": "audit"}}, l}
}

const day = 24 * time.Hour

var old = []time.Duration{300 * day, 100 * day, 10 * day, 3 * day, 2 * time.Hour, time.Hour, time.Minute}

func reasons(found TenantActs) (all []string) {
	for _, a := range found.Acts {
		all = append(all, a.Reason)
	}
	return all
}

func TestTrail_OfTenant_readsAllThatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found, err := (&ages{of: old, takes: time.Second}).trail().OfTenant(t.Context(), "acme", now)
		var want []string
		for _, age := range old {
			want = append(want, age.String()+" ago")
		}
		if diff := cmp.Diff(want, reasons(found)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if found.More || !found.From.Equal(now.Add(-400*day)) {
			t.Errorf("from %v, more: %t", found.From, found.More)
		}
	})
}

// Each function writes to a stream of its own, and a page has the lines of one stream after another.
func TestTrail_OfTenant_isInOrderOfTime(t *testing.T) {
	log := &ages{of: []time.Duration{2 * time.Minute, time.Minute, 3 * time.Minute}}
	found, err := log.trail().OfTenant(t.Context(), "acme", now)
	want := []string{"3m0s ago", "2m0s ago", "1m0s ago"}
	if diff := cmp.Diff(want, reasons(found)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The latest lines matter most. What was read of an older part is complete, or is not shown.
func TestTrail_OfTenant_saysFromWhenOnItHasReadWhereTimeRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		found, err := (&ages{of: old, takes: 6 * time.Second}).trail().OfTenant(t.Context(), "acme", now)
		want := []string{"72h0m0s ago", "2h0m0s ago", "1h0m0s ago", "1m0s ago"}
		if diff := cmp.Diff(want, reasons(found)); err != nil || diff != "" || !found.From.Equal(now.Add(-7*day)) {
			t.Errorf("%v, from %v (-want +got):\n%s", err, found.From, diff)
		}
		if took := time.Since(began); took > tenantActsPatience {
			t.Errorf("took %v", took)
		}
	})
}

func TestTrail_OfTenant_failsWhereNothingWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if found, err := (&ages{takes: time.Minute}).trail().OfTenant(t.Context(), "acme", now); err == nil {
			t.Errorf("no answer is taken for one: %+v", found)
		}
		denied := &ages{fails: errors.New("AccessDenied")}
		if _, err := denied.trail().OfTenant(t.Context(), "acme", now); err == nil ||
			!strings.Contains(err.Error(), "logs:FilterLogEvents") {
			t.Errorf("without the right: %v", err)
		}
	})
}

// A key may have made thousands of changes in an hour.
func TestTrail_OfTenant_saysThatLaterLinesAreMissing(t *testing.T) {
	many := slices.Repeat([]time.Duration{time.Minute}, tenantActsMost+1)
	found, err := (&paged{ages{of: many}}).trail().OfTenant(t.Context(), "acme", now)
	if err != nil || !found.More || len(found.Acts) < tenantActsMost || !found.From.Equal(now.Add(-time.Hour)) {
		t.Errorf("%d acts, more: %t, from %v, %v", len(found.Acts), found.More, found.From, err)
	}
}

// paged says after each answer that there is another.
type paged struct{ ages }

func (l *paged) FilterLogEvents(
	ctx context.Context, in *cloudwatchlogs.FilterLogEventsInput, o ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	out, err := l.ages.FilterLogEvents(ctx, in, o...)
	out.NextToken = aws.String("more")
	return out, err
}

func (l *paged) trail() Trail { return Trail{Client: l} }

// The filter is CloudWatch's, and lines of others must not pass for the tenant's whatever that takes for a match.
func TestTrail_OfTenant_showsNoLineOfAnother(t *testing.T) {
	log := &auditLog{lines: []string{
		`{"operator_claimed":"ann","action":"pause","tenant_id":"acme"}`,
		`{"operator_claimed":"ann","action":"pause","tenant_id":"acme2"}`,
		`{"key_id":"01","action":"create","tenant_id":"acme","endpoint_id":"webhook_1"}`,
		`{"operator_claimed":"ann","action":"replay","tenant_id":"acme","job_id":"job_1","delivery_id":"msg_1"}`,
		`not JSON`,
	}}
	found, err := Trail{Client: &once{log}}.OfTenant(t.Context(), "acme", now)
	want := []audit.Line{
		{OperatorClaimed: "ann", Action: "pause", TenantID: "acme"},
		{KeyID: "01", Action: "create", TenantID: "acme", EndpointID: "webhook_1"},
	}
	var got []audit.Line
	for _, a := range found.Acts {
		got = append(got, a.Line)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// once has lines in the first part alone.
type once struct{ *auditLog }

func (l *once) FilterLogEvents(
	ctx context.Context, in *cloudwatchlogs.FilterLogEventsInput, o ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	if len(l.asked) >= len(l.lines) {
		return &cloudwatchlogs.FilterLogEventsOutput{}, nil
	}
	return l.auditLog.FilterLogEvents(ctx, in, o...)
}

// Whatever is given for a tenant's id, the filter is ours with an id in it, or is not asked.
//
// Threat of an operator: has a text in place of a tenant's id read more of a log. Held by: an id's alphabet means
// nothing in filters and queries, and other text gets into none.
func TestTrail_OfTenant_takesNothingButAnIdIntoTheFilter(t *testing.T) {
	try := func(given string) bool {
		log := &ages{}
		_, err := log.trail().OfTenant(t.Context(), given, now)
		if !event.ValidTenantID(given) {
			return err != nil && len(log.asked) == 0
		}
		ours := strings.Count(*log.asked[0].FilterPattern, `"`) == 2
		return err == nil && ours && strings.HasPrefix(*log.asked[0].FilterPattern, `{ ($.tenant_id = "`+given+`") && `)
	}
	for _, given := range hostileIDs {
		if !try(given) {
			t.Errorf("%q gets into a filter", given)
		}
	}
	if err := quick.Check(try, nil); err != nil {
		t.Error(err)
	}
}
