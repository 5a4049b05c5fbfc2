package console

import (
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// usual are the answers of a stack, by function and action. Wherever tenants, receivers and operators can write, they
// have that text.
func usual(text string) map[string]any {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	all := map[string]any{}
	for _, a := range slices.Concat(usualEndpoints(text), usualDeliveries(text, at), usualJobs(text, at)) {
		all[a.to] = a.answer
	}
	return all
}

func usualEndpoints(text string) []answered {
	return []answered{
		to(api.GetSummary, api.Summary{
			Endpoints: api.EndpointCounts{States: map[api.State]int{api.StateOpen: 1, api.StateFlapping: 4}},
			Waiting:   api.Backlogged{Count: 1234567}, Queues: map[string]api.Depth{"EventsQueue": {Visible: 1}},
			DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 3}},
		}),
		to(api.ListCauses, api.Causes{Data: []api.Cause{{
			TenantID: "acme", EndpointID: "webhook_1", Host: text, Description: text, Reason: delivery.ReasonHTTP5xx, Count: 3,
		}}}),
		to(api.ListEndpoints, api.List[api.ListedEndpoint]{NextCursor: new("abc"), Data: []api.ListedEndpoint{{
			TenantID: text, EndpointID: "webhook_1", Host: text, Description: text, Contact: text, Health: api.Health{
				State: api.StateOpen, LastReason: delivery.ReasonTimeout, Recent: &api.Recent{Attempts: 10, Successes: 5},
			},
		}}}),
		to(api.GetEndpoint, api.Endpoint{
			TenantID: "acme", EndpointID: "webhook_1", URL: "https://" + text + "/", Description: text,
			Contact: text, Metadata: map[string]string{text: text},
			OAuth2: &api.OAuth2{TokenURL: "https://" + text + "/", ClientID: text, Method: "x"}, Health: api.Health{
				State: api.StateOpen, PausedBy: text, PauseReason: text, Failures: 2, LastReason: delivery.Reason(text),
			},
		}),
		to(api.GetTenant, api.Tenant{
			TenantID: "acme", Marks: api.TenantMarks{LimitedBy: text, LimitReason: text},
			Endpoints: api.TenantEndpoints{States: map[api.State]int{api.StateOpen: 1}, Data: []api.ListedEndpoint{
				{TenantID: "acme", EndpointID: "webhook_1", Host: text, Description: text},
			}},
		}),
		to(api.Limit, api.ControlAnswer{Result: api.ResultLimited}),
		to(api.Unlimit, api.ControlAnswer{Result: api.ResultUnlimited}),
		to(api.Allow, api.ControlAnswer{Result: api.ResultAllowed}),
		to(api.RevokeAllKeys, api.RevokedKeys{Revoked: 1}),
		to(api.Pause, api.ControlAnswer{Result: api.ResultPaused}),
		to(api.Resume, api.ControlAnswer{Result: api.ResultResumed}),
		to(api.Release, api.ControlAnswer{Result: api.ResultReleasing}),
		to(api.SendTest, api.TestDelivery{DeliveryID: "test_1"}),
		to(api.ListSubscribers, listOf(api.Subscriber{
			TenantID: text, EndpointID: "webhook_1", Status: endpoint.Active, SelectedBy: []string{"user.*", text},
		})),
		to(api.ListKeys, listOf(api.Key{KeyID: "01", Description: text})),
	}
}

func usualDeliveries(text string, at time.Time) []answered {
	reason := delivery.Reason(text)
	return []answered{
		to(api.ListDeliveries, api.DeliveryList{Note: text, List: listOf(
			api.Delivery{DeliveryID: "msg_1", EventType: text, State: delivery.Waiting})}),
		to(api.GetDelivery, api.Delivery{
			DeliveryID: "msg_1", TenantID: text, EndpointID: "webhook_1", EventID: text, EventType: text, TraceID: text,
			State: delivery.Dead, Reason: reason, CreatedAt: at.Add(-5 * time.Hour), UpdatedAt: at,
		}),
		to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1", TenantID: text, Status: deadletter.Dead})),
		to(api.OpenDeadLetter, api.OpenedDeadLetter{
			DeadLetter: api.DeadLetter{DeliveryID: "msg_1", EventType: text}, Body: text,
			History: []deadletter.Entry{{Reason: reason, Detail: text, DiedAt: at}},
		}),
		to(api.ListRejected, api.RejectedList{List: listOf(
			api.RejectedEvent{MessageID: "m_1", Reason: text, Body: &text, Bytes: 12})}),
		to(api.ReplayDeliveries, api.DeliveryResults{Data: []api.DeliveryResult{
			{Result: api.ResultReplayed}, {Result: api.ResultRefused, Reason: api.ReasonEndpointDeleted},
		}}),
		to(api.PurgeDeliveries, api.DeliveryResults{Data: []api.DeliveryResult{{Result: api.ResultPurged}}}),
		to(api.PublishRejected, api.EventResults{Data: []api.EventResult{{Result: api.ResultReplayed}}}),
		to(api.DiscardRejected, api.EventResults{Data: []api.EventResult{{Result: api.ResultDiscarded}}}),
	}
}

func usualJobs(text string, at time.Time) []answered {
	refused := map[string]int{api.ReasonEndpointDeleted: 2}
	running := api.Job{
		JobID: "job_1", Act: job.Replay, State: job.Running, Operator: text, Selector: api.Selector{Reason: text},
		StartedAt: at, Selected: 10, Done: 5, Left: 2, Refused: map[string]int{api.ReasonEndpointDeleted: 3},
	}
	return []answered{
		to(api.ListJobs, api.List[api.Job]{NextCursor: new("page 2"), Data: []api.Job{
			{JobID: "job_1", Act: job.Replay, Operator: text},
		}}),
		to(api.GetJob, running), to(api.StopJob, running), to(api.ResumeJob, running),
		to(api.GetJobOutcome, api.JobOutcome{
			Sent: 3, Delivered: 1, DeadAgain: 1, UnderWay: 1, Held: 1, NextCursor: new("c"),
		}),
		to(api.ListJobFailures, api.List[api.JobFailure]{NextCursor: new("page 2"), Data: []api.JobFailure{
			{ID: "msg_9", Result: api.ResultRefused, Reason: text},
		}}),
		to(api.StartJob, api.Survey{
			Selected: 12, Ready: 10, Refused: refused, Complete: true, Job: &api.Job{JobID: "job_1"},
			Until: time.Date(2026, 1, 3, 8, 0, 0, 500e6, time.UTC),
		}),
	}
}

// answered is the answer to an action.
type answered struct {
	to     string
	answer any
}

// to is the answer to an action. An alias of its function answers alike.
func to[Request, Answer any](action api.Action[Request, Answer], answer Answer) answered {
	return answered{named(action.Function, action.Name), answer}
}

// refusing is a refusal of an action.
func refusing[Request, Answer any](action api.Action[Request, Answer], refusal api.Refusal) answered {
	return answered{named(action.Function, action.Name), api.Refused{Error: &refusal}}
}

// named is an action with its function, not with an alias of that.
func named(function api.Function, action string) string {
	if function == api.ReplayForGood {
		function = api.Replay
	}
	return string(function) + " " + action
}

// listOf is a list with these rows alone.
func listOf[R any](rows ...R) api.List[R] { return api.List[R]{Data: rows} }

// said answers some actions, and the others as functions does.
func said(some ...answered) *functions {
	f := &functions{}
	f.say(some...)
	return f
}

// say changes answers.
func (f *functions) say(some ...answered) {
	if f.said == nil {
		f.said = map[string]any{}
	}
	for _, a := range some {
		f.said[a.to] = a.answer
	}
}
