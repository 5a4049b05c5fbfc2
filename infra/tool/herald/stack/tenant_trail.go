package stack

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"

	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// TenantActs are the audit lines about one tenant: of operators, and of its own keys.
type TenantActs struct {
	// The oldest first.
	Acts []Act

	// All lines since then were read. Those before were not.
	From time.Time

	// There are more lines since then than were taken: later ones are missing.
	More bool
}

// The most that a look at a tenant's acts takes.
const (
	tenantActsPatience = 20 * time.Second
	tenantActsMost     = 2000
)

// reaches are how far back the audit log is searched, step by step: CloudWatch Logs has the oldest line first, and the
// latest matter most. The log's retention bounds the last step.
var reaches = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 120 * 24 * time.Hour}

// tenantPattern is a filter for the lines about a tenant. An id has no character that means anything in a pattern.
// What else is given for an id gets into none. The single ids of a job would hide everything else.
func tenantPattern(tenantID string) (string, error) {
	if !event.ValidTenantID(tenantID) {
		return "", exit.With(exit.Usage, "%q is not a tenant's id: it %s", answers.Safe(tenantID), event.TenantIDRule)
	}
	return `{ ($.tenant_id = "` + tenantID + `") && ` +
		`(($.job_id NOT EXISTS) || (($.delivery_id NOT EXISTS) && ($.message_id NOT EXISTS))) }`, nil
}

// OfTenant reads the lines about a tenant, from now back as far as there is time for.
func (t Trail) OfTenant(ctx context.Context, tenantID string, now time.Time) (found TenantActs, err error) {
	pattern, err := tenantPattern(tenantID)
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, tenantActsPatience)
	defer cancel()
	found.From = now
	for _, reach := range t.reaches() {
		from := now.Add(-reach)
		lines, whole, err := t.between(ctx, pattern, from, found.From, tenantActsMost-len(found.Acts))
		first := found.From.Equal(now)
		if err != nil && (first || ctx.Err() == nil) {
			return found, t.Explain("reading the audit log (logs:FilterLogEvents)", err)
		}
		if err != nil || !whole && !first {
			break // this step has the oldest lines alone, and lacks those between them and the later ones
		}
		lines = slices.DeleteFunc(lines, func(a Act) bool { return !a.isOf(tenantID) })
		found.Acts, found.From = append(lines, found.Acts...), from
		if !whole {
			found.More = true
			break
		}
	}
	// A page has the lines of one stream after another, and each function writes to its own.
	slices.SortStableFunc(found.Acts, func(a, b Act) int { return a.At.Compare(b.At) })
	return found, nil
}

// reaches are the steps up to the retention of the audit log.
func (t Trail) reaches() []time.Duration {
	days, err := strconv.Atoi(t.Parameters[parameters.AuditRetentionDays])
	if err != nil {
		days = 400 // the template's default
	}
	kept := time.Duration(days) * 24 * time.Hour
	all := slices.DeleteFunc(slices.Clone(reaches), func(d time.Duration) bool { return d >= kept })
	return append(all, kept)
}

// between reads the lines that a pattern takes, up to so many. Whole says that there are no more.
func (t Trail) between(
	ctx context.Context, pattern string, from, until time.Time, most int,
) (acts []Act, whole bool, err error) {
	group := t.Outputs["AuditLogGroupName"]
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(t.Client, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: &pattern, StartTime: aws.Int64(from.UnixMilli()),
		EndTime: aws.Int64(until.UnixMilli() - 1), // both are included
	})
	for pages.HasMorePages() {
		if len(acts) >= most {
			return acts, false, nil
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, false, fmt.Errorf("reading lines: %w", err)
		}
		for _, event := range page.Events {
			acts = append(acts, Act{lineOf(aws.ToString(event.Message)), time.UnixMilli(aws.ToInt64(event.Timestamp)).UTC()})
		}
	}
	return acts, true, nil
}

// isOf repeats the filter, which the emulator ignores.
func (a Act) isOf(tenantID string) bool {
	single := a.DeliveryID != "" || a.MessageID != ""
	return a.TenantID == tenantID && (a.JobID == "" || !single)
}

// ByKey reports whether a key of the tenant made the change, and no operator.
func (a Act) ByKey() bool { return a.KeyID != "" && a.OperatorClaimed == "" }
