package console

import (
	"context"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// manyAct is an act on all of a selection, as a job, or on ids.
type manyAct struct {
	asks    string // with a verb for the number
	of      string // its object
	since   string // what happened when its object came to its list
	id      string // the field of a form with one id
	deletes bool   // for good

	// selection reads a form's selection.
	selection func(s *Server, form url.Values) (api.Selector, error)

	// rows reads the list that a form's ids are from.
	rows func(ctx context.Context, s *Server, form url.Values) (tickedRows, error)

	// byIDs acts on ids, and says what was done.
	byIDs func(ctx context.Context, s *Server, ids []string) (done string, err error)
}

// mostReplays bounds the endpoints with replays that one question is about.
const mostReplays = 5

// manyActs are the acts that are asked about first.
var manyActs = map[string]manyAct{
	string(job.Replay): {
		"Replay %s", "dead letter", "died", "delivery_id", false, (*Server).letters, letterRows, replayDeliveries,
	},
	string(job.Purge): {
		"Delete %s for good", "dead letter", "died", "delivery_id", true, (*Server).letters, letterRows, purgeDeliveries,
	},
	string(job.Publish): {
		"Publish %s again", "rejected event", "sent", "message_id", false, (*Server).events, eventRows, publishEvents,
	},
	string(job.Discard): {
		"Delete %s for good", "rejected event", "sent", "message_id", true, (*Server).events, eventRows, discardEvents,
	},
}

// function is the operator function that does the act.
func (m manyAct) function() api.Function {
	if m.deletes {
		return api.ReplayForGood
	}
	return api.Replay
}

// startJob is the action that starts the act's job.
func (m manyAct) startJob() api.Action[api.StartJobRequest, api.Survey] {
	if m.deletes {
		return api.StartJob.ForGood()
	}
	return api.StartJob
}

func replayDeliveries(ctx context.Context, s *Server, ids []string) (done string, err error) {
	results, err := ask(ctx, s, api.ReplayDeliveries, api.ReplayRequest{DeliveryIDs: ids})
	return counted(results.Data, ofDelivery), err
}

func purgeDeliveries(ctx context.Context, s *Server, ids []string) (done string, err error) {
	of := api.PurgeRequest{ReplayRequest: api.ReplayRequest{DeliveryIDs: ids}, Confirm: true}
	results, err := ask(ctx, s, api.PurgeDeliveries, of)
	return counted(results.Data, ofDelivery), err
}

func publishEvents(ctx context.Context, s *Server, ids []string) (done string, err error) {
	results, err := ask(ctx, s, api.PublishRejected, api.PublishRequest{MessageIDs: ids})
	return counted(results.Data, ofEvent), err
}

func discardEvents(ctx context.Context, s *Server, ids []string) (done string, err error) {
	of := api.DiscardRejectedRequest{PublishRequest: api.PublishRequest{MessageIDs: ids}, Confirm: true}
	results, err := ask(ctx, s, api.DiscardRejected, of)
	return counted(results.Data, ofEvent), err
}

func ofDelivery(r api.DeliveryResult) (result api.Result, reason string) { return r.Result, r.Reason }

func ofEvent(r api.EventResult) (result api.Result, reason string) { return r.Result, r.Reason }

// counted is the number of each kind of result.
func counted[R any](results []R, of func(R) (result api.Result, reason string)) string {
	counts := map[string]int{}
	for _, r := range results {
		result, reason := of(r)
		counts[strings.TrimSpace(string(result)+" "+reason)]++
	}
	return answers.Reasons(counts)
}
