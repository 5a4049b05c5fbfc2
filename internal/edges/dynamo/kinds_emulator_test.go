//go:build emulator

package dynamo_test

import (
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// waits is the format of an item of Backlog.
func waits(want backlog.Item) format {
	return format{
		ofBacklog, keyOf("endpoint_shard", shardID, "position", positionID),
		func(s rig) {
			if errs := s.backlog.Put(s.t.Context(), []backlog.Item{want}); errs[0] != nil {
				s.t.Fatal(errs[0])
			}
		},
		func(s rig) any {
			page, err := s.backlog.BatchGet(s.t.Context(), []backlog.Key{want.Key})
			if err != nil || len(page.Items) != 1 {
				s.t.Fatal(page, err)
			}
			return page.Items[0]
		}, want,
	}
}

// health is the format of a circuit.
func health(want circuit.Item) format {
	return format{
		ofHealth, keyOf("scope", "endpoint#"+endpointID, "name", "health"),
		func(s rig) {
			mustStore(s.t, s.circuits, circuit.Item{}, want)
			key := dynamo.EndpointKey{TenantID: want.TenantID, EndpointID: want.EndpointID}
			if err := s.circuits.Hold(s.t.Context(), key, want.HeldUntil, at); err != nil {
				s.t.Fatal(err)
			}
		},
		func(s rig) any { return getCircuit(s.t, s.circuits, endpointID) }, want,
	}
}

// letter is the format of a dead letter after something that comes behind its death.
func letter(want deadletter.Record, then func(s rig)) format {
	return format{
		ofLetters, keyOf("delivery_id", want.DeliveryID),
		func(s rig) {
			bury(s.t, s.letters, wantLetter)
			then(s)
		},
		func(s rig) any { return getLetter(s.t, s.letters, want.DeliveryID) }, want,
	}
}

// key is the format of an API key.
func key(want apikey.Key) format {
	return format{
		ofKeys, keyOf("key_id", want.ID),
		func(s rig) {
			if err := s.keys.Put(s.t.Context(), want); err != nil {
				s.t.Fatal(err)
			}
		},
		func(s rig) any { return got[apikey.Key](s.t)(s.keys.Get(s.t.Context(), want.ID)) }, want,
	}
}

// stored is the format of a job.
func stored(want job.Job) format {
	return format{
		ofJobs, keyOf("job_id", want.ID, "part", "job"), func(s rig) { startJob(s, want) },
		func(s rig) any { return got[job.Job](s.t)(s.jobs.Get(s.t.Context(), want.ID)) }, want,
	}
}
