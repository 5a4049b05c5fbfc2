//go:build emulator

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// remains are what a version leaves to the next.
type remains struct {
	tenant     *client.Client // with a key of this version
	held, dead subscription
	letter     api.DeadLetter // replayed by name
	mended     subscription   // its dead letter is replayed by a job
	job        string
	rejected   examples.Message
}

const heldEvents = 3

// leave has a version issue a key, create three endpoints, hold deliveries to one, seal dead letters of the others,
// reject an event and begin a job.
func leave(t *testing.T, by *client.Client, at *receiver.Server) (r remains) {
	t.Helper()
	id := unique("tenant")
	key, err := by.IssueKey(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r.tenant = by.As(id, key)
	r.held = register(t, r.tenant, at, []string{"user.*"})
	r.dead = register(t, r.tenant, at, []string{"organization.*"})
	r.held.verify(t, r.held.SigningSecret)
	r.mended = register(t, r.tenant, at, []string{"connection.saml_certificate_renewed"})
	r.dead.verify(t, r.dead.SigningSecret)
	r.mended.verify(t, r.mended.SigningSecret)
	if _, err := client.Ask(t.Context(), by, api.Pause, api.Target{TenantID: id, EndpointID: r.held.ID}); err != nil {
		t.Fatal(err)
	}
	for range heldEvents {
		publish(t, r.tenant, "user.created")
	}
	r.dead.Fail(failing...)
	publish(t, r.tenant, "organization.created")
	letters, err := by.AwaitDeath(t.Context(), patience.Limit(), r.dead.ID, 1)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
	r.letter = letters[0]
	r.rejected = examples.Message{ID: unique("evt"), TenantID: id, Type: "unknown.type", Data: jsontext.Value(`{}`)}
	send(t, r.tenant, r.rejected)
	eventually(t, "deliveries that are held", func(ctx context.Context) (bool, error) {
		_, waiting, err := by.Health(ctx, id, r.held.ID)
		return waiting.Count == heldEvents, err
	})
	r.job = r.begin(t, by)
	return r
}

// begin starts a job on the dead letters of an endpoint that has been mended. The next version comes while it runs.
func (r remains) begin(t *testing.T, by *client.Client) string {
	t.Helper()
	r.mended.Fail(failing...)
	publish(t, r.tenant, "connection.saml_certificate_renewed")
	if _, err := by.AwaitDeath(t.Context(), patience.Limit(), r.mended.ID, 1); err != nil {
		t.Fatal(err)
	}
	r.mended.Fail()
	survey, err := client.Ask(t.Context(), by, api.StartJob, api.StartJobRequest{
		Act: job.Replay, Token: unique("token"),
		Selector: api.Selector{TenantID: r.tenant.TenantID, EndpointID: r.mended.ID},
	})
	if err != nil || survey.Job == nil {
		t.Fatalf("%+v, %v", survey, err)
	}
	return survey.Job.JobID
}

// finish has another version deliver what was left, and an event of its own to the endpoint that it finds.
func (r remains) finish(t *testing.T, by *client.Client) {
	t.Helper()
	target := api.Target{TenantID: r.tenant.TenantID, EndpointID: r.held.ID}
	if _, err := client.Ask(t.Context(), by, api.Resume, target); err != nil {
		t.Fatal(err)
	}
	publish(t, r.tenant, "user.updated")
	genuine(t, r.held.await(t, heldEvents+1))
	change(t, r.tenant, "PATCH", r.held.ID, about{"description": "moved on"}) // by the key that the other issued
	before := len(r.dead.Requests())
	r.dead.Fail()
	if err := by.Replay(t.Context(), r.letter.DeliveryID); err != nil {
		t.Fatal(err)
	}
	replayed := r.dead.await(t, before+1)[before:]
	genuine(t, replayed)
	if !slices.ContainsFunc(replayed, func(q receiver.Request) bool { return q.ID == r.letter.DeliveryID }) {
		t.Errorf("%s was not replayed", r.letter.DeliveryID)
	}
	r.finishJob(t, by)
	r.discard(t, by)
}

// finishJob waits for the end of the job that the other version began.
func (r remains) finishJob(t *testing.T, by *client.Client) {
	t.Helper()
	var seen api.Job
	eventually(t, "the end of a job", func(ctx context.Context) (_ bool, err error) {
		seen, err = client.Ask(ctx, by, api.GetJob, api.JobRequest{JobID: r.job})
		return seen.State == job.Done, err
	})
	if seen.Done != 1 || len(seen.Refused)+len(seen.Failed) > 0 {
		t.Errorf("the job of the other version: %+v", seen)
	}
	genuine(t, r.mended.await(t, 1))
}

// discard has a version find the event that the other rejected, with its reason, and delete it.
func (r remains) discard(t *testing.T, by *client.Client) {
	t.Helper()
	eventually(t, "the rejected event", func(ctx context.Context) (bool, error) {
		list, err := client.Ask(ctx, by, api.ListRejected, api.RejectedRequest{TenantID: r.tenant.TenantID})
		if err != nil || len(list.Data) == 0 {
			return false, err
		}
		if found := list.Data[0]; found.EventID != r.rejected.ID || !strings.HasPrefix(found.Reason, "invalid event: ") {
			t.Errorf("rejected: %+v, want %s", found, r.rejected.ID)
		}
		named := api.DiscardRejectedRequest{Confirm: true}
		named.MessageIDs = []string{list.Data[0].MessageID}
		answer, err := client.Ask(ctx, by, api.DiscardRejected, named)
		return err == nil && len(answer.Data) == 1 && answer.Data[0].Result == api.ResultDiscarded, err
	})
}
