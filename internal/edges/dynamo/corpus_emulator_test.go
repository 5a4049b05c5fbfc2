//go:build emulator

package dynamo_test

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

const (
	endpointID = "webhook_01KEXAMPLE0000000000000000"
	shardID    = endpointID + "#4"
	positionID = "2026-02-03T04:05:06.789Z#msg_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#2#random23"
)

// The meaning of the corpus. These values never change: a later version adds formats, and reads these.
var (
	wantEndpoint = endpoint.Endpoint{
		ID: endpointID, TenantID: "acme", URL: "https://example.com/hooks", Description: "ä",
		Events: []string{"user.*", "organization.created"}, Status: endpoint.Disabled,
		CreatedAt: at, UpdatedAt: at.Add(time.Hour), SecretRotatedAt: at.Add(time.Minute),
		SecretVersion: 2, SealedSecret: []byte("sealed"), RateLimit: 10, Revision: "revision",
	}
	wantMarks   = endpoint.TenantMarks{Tenant: allMarks, Endpoints: map[string]endpoint.Marks{endpointID: allMarks}}
	wantCircuit = circuit.Item{
		TenantID: "acme", EndpointID: endpointID, Version: 1_770_091_506_789_000_001,
		State: circuit.Recovering, Since: at, HeldUntil: at.Add(time.Hour),
		Failures: 4, FailingSince: at.Add(1 * time.Second), OutageSince: at.Add(2 * time.Second),
		Deliveries: []string{"msg_2", "msg_1"},
		Last:       circuit.Answer{At: at.Add(3 * time.Second), Status: 503, Reason: "http_5xx"},
		Probes:     5, ProbedAt: at.Add(4 * time.Second), RecoveredAt: at.Add(5 * time.Second),
		Pace:   circuit.Pace{Quota: 960, Oldest: at.Add(6 * time.Second)},
		Recent: circuit.Recent{Start: at.Add(7 * time.Second), Tried: 9, OK: 8, TriedWas: 7, OKWas: 6},
	}
	wantNotices = func() circuit.Item {
		i := wantCircuit
		i.Outage = circuit.Spell{At: at, Reason: "http_5xx", Status: 503, Told: true, EndedAt: at.Add(time.Hour)}
		i.Pause = circuit.Spell{At: at.Add(time.Minute), Told: true}
		i.Death = circuit.Spell{At: at.Add(2 * time.Minute), Reason: "timeout"}
		return i
	}()
	wantWaiting = backlog.Item{
		Key: backlog.Key{EndpointID: endpointID, Shard: 4, Position: positionID},
		Message: delivery.Message{
			Ref: delivery.Ref{
				DeliveryID: "msg_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TenantID: "acme", EndpointID: endpointID,
				EventID: "event_1", OccurredAt: at.Add(-time.Minute), CreatedAt: at, Replay: 2,
			},
			Attempts: 4,
			Life: delivery.Life{
				StartedAt: at, DueAt: at.Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503,
			},
			Body: []byte("{\"type\":\"user.created\",\"data\":\"\xff\"}"),
		},
		StoredAt: at.Add(time.Second), DueAt: at.Add(168 * time.Hour), Held: true, NotBefore: at.Add(time.Minute),
	}
)

// wantTraced has a trace, in the form of X-Ray.
var wantTraced = func() backlog.Item {
	i := wantWaiting
	i.Message.Trace = trace.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	return i
}()

// wantLetter died in its third life for the first time. Its seals have a corpus of their own.
var wantLetter = deadletter.Record{
	Ref: wantWaiting.Message.Ref, EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonHTTP5xx,
	Attempts: 10, LastStatus: 503, ReplayCount: 2, DiedAt: at.Add(time.Hour), UpdatedAt: at.Add(time.Hour),
	Sealed: deadletter.Sealed{
		Body: []byte("sealed body"), Attributes: []byte("sealed attributes"),
		History: []deadletter.SealedEntry{{Replay: 2, Reason: delivery.ReasonHTTP5xx, Sealed: []byte("sealed entry")}},
	},
}

var (
	wantRecord = delivery.Record{
		Ref: wantWaiting.Message.Ref, EventType: "user.created", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		State: delivery.Retrying, Attempts: 4, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 150,
		NextAttemptAt: at.Add(time.Hour), UpdatedAt: at.Add(time.Minute),
	}
	wantKey = apikey.Key{
		ID: "01KEXAMPLE0000000000000000", TenantID: "acme", Scopes: []apikey.Scope{"webhooks:read"}, Description: "ä",
		Hash: []byte("hash"), CreatedAt: at, RevokedAt: at.Add(time.Hour), LastUsedAt: at.Add(time.Minute),
	}
	wantJob = job.Job{
		ID: "job_aaaaaaaaaaaaaaaaaaaaaaaaaa", Act: job.Replay, Asked: at.Add(time.Second), Operator: "ann", StartedAt: at,
		RunsFrom: at.Add(2 * time.Second), Selected: 7, State: job.Running, StoppedBy: "ben",
		Selector: job.Selector{
			TenantID: "acme", EndpointID: endpointID, Reason: "timeout", Status: "dead", Since: at.Add(-time.Hour), Until: at,
		},
		Progress: job.Progress{
			Done: 3, Refused: map[string]int{"purged": 1}, Failed: map[string]int{"internal": 2}, Pages: 3,
			Pending: []string{"msg_1"}, Tries: 1, Cursor: "cursor", UpdatedAt: at.Add(time.Minute),
			HiddenSince: at.Add(3 * time.Second), HiddenUntil: at.Add(4 * time.Second),
		},
	}
	wantPage = job.Page{
		Number: 3, Done: []string{"msg_1"}, Failures: []job.Failure{{ID: "msg_2", Refused: true, Reason: "purged"}},
	}
)

func deletedEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.Status, e.DeletedAt = endpoint.Deleted, at.Add(2*time.Hour)
	return e
}

func toldEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.AboutRow = endpoint.AboutKept
	e.About = endpoint.About{Contact: "ann@example.com", Metadata: map[string]string{"crm": "7"}}
	return e
}

// wholeEndpoint has all that the other endpoints lack.
func wholeEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.Site, e.SitedAt = "example.com", at
	e.PublicKey, e.PreviousKey = "whpk_2", "whpk_1"
	e.SealedPrevious, e.PreviousUntil = []byte("sealed before"), at.Add(24*time.Hour)
	e.HeaderNames, e.HeadersVersion, e.SealedHeaders = []string{"X-Team"}, 3, []byte("sealed headers")
	e.AboutRow = endpoint.AboutNone
	return e
}

// tokenEndpoint gets tokens, as none of the other endpoints does.
func tokenEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.OAuth = &endpoint.OAuth{
		TokenURL: "https://id.example.com/token", ClientID: "herald", Scope: "a b", Audience: "urn:x",
		Method: endpoint.ClientSecretPost,
	}
	e.OAuthVersion, e.SealedOAuth = 2, []byte("sealed client secret")
	return e
}

// wantToken has all that is stored of a token: of a real one, either the seal or the reason.
var wantToken = token.Kept{
	Of: "credentials", Claim: "claim", Asked: at, Until: at.Add(time.Minute).UnixMilli(), Sealed: []byte("sealed"),
	Reason: delivery.ReasonTokenRefused,
}

// What the circuit, the dead letter, the key and the job above lack.
var (
	wantRetry = func() circuit.Item {
		i := wantCircuit
		i.Last.RetryAt = at.Add(time.Minute)
		return i
	}()
	wantClaimed = func() deadletter.Record {
		r := wantLetter
		r.Status, r.ReplayCount, r.JobID, r.UpdatedAt = deadletter.Replaying, 3, wantJob.ID, at.Add(2*time.Hour)
		return r
	}()
	wantSpent = func() apikey.Key {
		k := wantKey
		k.Spent, k.SpentMinute = 7, at.Unix()/60
		return k
	}()
	wantListed = func() job.Job {
		j := wantJob
		j.Listed = true
		return j
	}()
	wantNarrowed = func() job.Job {
		j := wantJob
		j.Act = job.Purge
		j.Selector.EventID = "event_1"
		j.Selector.PublishedSince, j.Selector.PublishedUntil = at.Add(-2*time.Hour), at.Add(-time.Hour)
		return j
	}()
)

// sitedMarks hold for endpoints that come to a site later.
var sitedMarks = endpoint.TenantMarks{
	Tenant: endpoint.Marks{EndpointsPerHost: 30},
	Endpoints: map[string]endpoint.Marks{endpointID: {
		PausedAt: at, PauseSite: "example.com", RateLimit: 20, LimitedAt: at, LimitSite: "example.com",
	}},
}
