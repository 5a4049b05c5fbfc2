package stack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// SharesQuery is the saved query "tenants' shares" of the template. A line of a success at the first attempt stands for
// many, so it is told from others by outcome, attempt and replay.
const SharesQuery = `filter message = "attempt" and ispresent(tenant_id)
	| stats count() as attempts, sum(ms) as total by tenant_id, outcome, attempt, replay
	| sort attempts desc | limit 10000`

// endpointsQuery is the same for the endpoints of one tenant. An id has no character that means anything in a query.
const endpointsQuery = `filter message = "attempt" and tenant_id = "TENANT"
	| stats count() as attempts, sum(ms) as total by endpoint_id, outcome, attempt, replay
	| sort attempts desc | limit 10000`

// The fields of the queries that are no keys of the log.
const (
	sumAttempts = "attempts"
	sumMillis   = "total"
)

// Share is the part of a tenant, or of one of its endpoints, in the attempts of a span of time.
type Share struct {
	ID               string
	Attempts, Millis float64
}

// Shares are parts in the attempts of a span of time, the greatest first.
type Shares struct {
	Parts []Share

	// The percentage of successes at the first attempt that the log has.
	Sample float64
}

// Sample is the percentage of events whose successes at the first attempt are logged.
func (s Stack) Sample() float64 {
	sample, err := strconv.ParseFloat(s.Parameters[parameters.SuccessLogSample], 64)
	if err != nil {
		return 1 // the template's default
	}
	return sample
}

// weight is how many attempts a line of the log stands for. Of successes at the first attempt the log has a sample.
// Where it has none at all, other successes are left out as well: failures are compared with failures.
func (a Attempt) weight(sample float64) float64 {
	switch {
	case a.Outcome != delivery.VerdictAcknowledged:
		return 1
	case sample == 0:
		return 0
	case a.Number == 1 && a.Replay == 0 && !strings.HasPrefix(a.DeliveryID, "test_"):
		return 100 / sample
	}
	return 1
}

// Meaning says what the numbers are.
func (s Shares) Meaning() string {
	switch s.Sample {
	case 0:
		return "Failures alone: SuccessLogSample is 0, so the log has no successes at the first attempt."
	case 100:
		return "All attempts: SuccessLogSample is 100."
	}
	return fmt.Sprintf("Estimates: of successes at the first attempt the log has a sample of %s %% (SuccessLogSample), "+
		"and each is counted %.4g times.", answers.Shown(s.Sample), 100/s.Sample)
}

// Total is all of them together.
func (s Shares) Total() (all Share) {
	for _, share := range s.Parts {
		all.Attempts += share.Attempts
		all.Millis += share.Millis
	}
	return all
}

// Part is that of one id.
func (s Shares) Part(id string) Share {
	at := slices.IndexFunc(s.Parts, func(share Share) bool { return share.ID == id })
	if at < 0 {
		return Share{ID: id}
	}
	return s.Parts[at]
}

// add counts attempts that are alike.
func (s *Shares) add(id string, attempts, millis float64) {
	if attempts == 0 {
		return
	}
	at := slices.IndexFunc(s.Parts, func(share Share) bool { return share.ID == id })
	if at < 0 {
		at = len(s.Parts)
		s.Parts = append(s.Parts, Share{ID: id})
	}
	s.Parts[at].Attempts += attempts
	s.Parts[at].Millis += millis
}

// sorted has the greatest first.
func (s Shares) sorted(by func(Share) float64) Shares {
	slices.SortStableFunc(s.Parts, func(a, b Share) int { return cmp.Compare(by(b), by(a)) })
	return s
}

func byAttempts(s Share) float64 { return s.Attempts }

func byTime(s Share) float64 { return s.Millis }

// Shares are the tenants' parts in that time, by their attempts.
func (i Insights) Shares(ctx context.Context, from, until time.Time) (Shares, error) {
	lines, err := i.query(ctx, SharesQuery, from, until)
	return i.sum(lines, telemetry.KeyTenant).sorted(byAttempts), err
}

// EndpointShares are the parts of a tenant's endpoints in that time, by the time that they took.
func (i Insights) EndpointShares(ctx context.Context, tenantID string, from, until time.Time) (Shares, error) {
	if !event.ValidTenantID(tenantID) {
		return Shares{}, exit.With(exit.Usage, "%q is not a tenant's id: it %s", answers.Safe(tenantID), event.TenantIDRule)
	}
	lines, err := i.query(ctx, strings.Replace(endpointsQuery, "TENANT", tenantID, 1), from, until)
	return i.sum(lines, telemetry.KeyEndpoint).sorted(byTime), err
}

// sum adds up rows, each of which counts attempts that are alike.
func (i Insights) sum(lines []line, key string) Shares {
	all := Shares{Sample: i.Sample()}
	for _, l := range lines {
		weight := l.attempt().weight(all.Sample)
		all.add(l[key], weight*l.number(sumAttempts), weight*l.number(sumMillis))
	}
	return all
}

// Shares are the tenants' parts in that time, as [Insights] has them.
func (l LoggedLines) Shares(_ context.Context, from, until time.Time) (Shares, error) {
	all := Shares{Sample: l.Sample}
	err := l.each(from, until, func(a Attempt) {
		weight := a.weight(l.Sample)
		all.add(a.TenantID, weight, weight*a.Millis)
	})
	return all.sorted(byAttempts), err
}

// EndpointShares are the parts of a tenant's endpoints in that time, as [Insights] has them.
func (l LoggedLines) EndpointShares(_ context.Context, tenantID string, from, until time.Time) (Shares, error) {
	all := Shares{Sample: l.Sample}
	err := l.each(from, until, func(a Attempt) {
		if a.TenantID == tenantID {
			weight := a.weight(l.Sample)
			all.add(a.EndpointID, weight, weight*a.Millis)
		}
	})
	return all.sorted(byTime), err
}
