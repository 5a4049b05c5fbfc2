package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// plan is how one table is restored.
type plan struct {
	key       []string
	overwrite bool // items change: the one in the table may have to be replaced

	// choose returns the missing items to bring back; nil: all.
	choose func(ctx context.Context, r *restorer, missing []item) ([]item, error)
	// before prepares the write of an item.
	before func(ctx context.Context, r *restorer, i item) error
	// reseal returns an item under the stack's own key, which sealedBy names. It is nil if the items hold nothing sealed.
	reseal   func(ctx context.Context, r *restorer, i item) (item, error)
	sealedBy string
	// mend corrects the table's counts, after a page, and returns how many numbers were wrong.
	mend func(ctx context.Context, r *restorer, page []item) (int, error)
}

// plans are the tables that have point-in-time recovery, by logical id. Deliveries and EndpointHealth fill themselves.
var plans = map[string]plan{
	"Endpoints": {
		key: []string{"tenant_id", "endpoint_id"}, overwrite: true, choose: goneEndpoints, mend: countEndpoints,
		reseal: resealEndpoint, sealedBy: "SecretsKey",
	},
	"ApiKeys":     {key: []string{"key_id"}, overwrite: true},
	"DeadLetters": {key: []string{"delivery_id"}, overwrite: true, reseal: resealLetter, sealedBy: "DeadLetterKey"},
	"Backlog":     {key: []string{"endpoint_shard", "position"}, choose: unfinished, before: lease},
	"Jobs":        {key: []string{"job_id", "part"}, overwrite: true},
}

func known() string { return strings.Join(slices.Sorted(maps.Keys(plans)), ", ") }

const (
	deletedPrefix = "deleted#" // of the key of a deleted endpoint without marks
	countsKey     = "#counts"
	marksPrefix   = "marks#" // of the partition of a tenant's operators' marks
)

// goneEndpoints leaves out endpoints that have been deleted or restored since: they have another key now. The counts
// are counted anew.
func goneEndpoints(ctx context.Context, r *restorer, missing []item) (gone []item, err error) {
	moved := make([]item, len(missing))
	for n, i := range missing {
		id, deleted := strings.CutPrefix(text(i, "endpoint_id"), deletedPrefix)
		if !deleted {
			id = deletedPrefix + id
		}
		moved[n] = item{"tenant_id": i["tenant_id"], "endpoint_id": &types.AttributeValueMemberS{Value: id}}
	}
	there, err := r.get(ctx, moved)
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		if there[n] == nil && text(i, "endpoint_id") != countsKey {
			gone = append(gone, i)
		}
	}
	return gone, nil
}

// countEndpoints corrects the numbers of endpoints of the page's tenants.
func countEndpoints(ctx context.Context, r *restorer, page []item) (mended int, err error) {
	tenants := map[string]bool{}
	for _, i := range page {
		if tenant := text(i, "tenant_id"); !strings.HasPrefix(tenant, marksPrefix) {
			tenants[tenant] = true
		}
	}
	for tenant := range tenants {
		wrong, err := r.count(ctx, tenant)
		if err != nil {
			return mended, err
		}
		if wrong {
			mended++
		}
	}
	return mended, nil
}

const countTries = 10

// count corrects the number of a tenant's endpoints. The number changes with every creation and deletion of an
// endpoint. If it is the same after the count as before, nothing was created or deleted meanwhile.
func (r *restorer) count(ctx context.Context, tenant string) (wrong bool, err error) {
	key := item{"tenant_id": &types.AttributeValueMemberS{Value: tenant},
		"endpoint_id": &types.AttributeValueMemberS{Value: countsKey}}
	endpoints := dynamo.NewEndpoints(r.client, r.into).Only(dynamo.Deciding)
	for range countTries {
		rows, err := r.get(ctx, []item{key})
		if err != nil {
			return false, err
		}
		all, err := endpoints.List(ctx, tenant)
		if err != nil {
			return false, fmt.Errorf("counting endpoints: %w", err)
		}
		live := 0
		for _, e := range all {
			if e.Live() {
				live++
			}
		}
		want := &types.AttributeValueMemberN{Value: strconv.Itoa(live)}
		was, found := rows[0]["live_count"].(*types.AttributeValueMemberN)
		if found && was.Value == want.Value || !found && live == 0 {
			return false, nil
		}
		update := &dynamodb.UpdateItemInput{
			TableName: &r.into, Key: key, UpdateExpression: aws.String("SET live_count = :now"),
			ConditionExpression:       aws.String("attribute_not_exists(live_count)"),
			ExpressionAttributeValues: item{":now": want},
		}
		if found {
			update.ConditionExpression, update.ExpressionAttributeValues[":was"] = aws.String("live_count = :was"), was
		}
		_, err = r.client.UpdateItem(ctx, update)
		var changed *types.ConditionalCheckFailedException
		if !errors.As(err, &changed) {
			return err == nil, err
		}
	}
	return false, fmt.Errorf("the endpoints of tenant %s are being changed all the time", tenant)
}

// unfinished leaves out deliveries that have ended since the copy: acknowledged, discarded or dead in the same life or
// a later one. A delivery that was sent on since the copy, but has not ended, comes back as a duplicate.
func unfinished(ctx context.Context, r *restorer, missing []item) (open []item, err error) {
	refs := make([]delivery.Ref, len(missing))
	ids := map[string]bool{}
	for n, i := range missing {
		refs[n], err = backlog.Parse(text(i, "position"))
		if err != nil {
			return nil, fmt.Errorf("reading an item of Backlog: %w", err)
		}
		ids[refs[n].DeliveryID] = true
	}
	records, err := dynamo.NewDeliveries(r.client, r.deliveries).BatchGet(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return nil, fmt.Errorf("reading the deliveries' records: %w", err)
	}
	for n, i := range missing {
		record, found := records[refs[n].DeliveryID]
		ended := record.State == delivery.Acknowledged ||
			record.Replay >= refs[n].Replay && (record.State == delivery.Discarded || record.State == delivery.Dead)
		if !found || !ended {
			open = append(open, i)
		}
	}
	return open, nil
}

// leased is how long release looks for held deliveries of an endpoint.
const leased = time.Hour

// lease makes release look for a delivery that is held for its endpoint (package circuit, "The lease").
func lease(ctx context.Context, r *restorer, i item) error {
	if held, ok := i["held"].(*types.AttributeValueMemberBOOL); !ok || !held.Value {
		return nil
	}
	endpointID, _, _ := strings.Cut(text(i, "endpoint_shard"), "#")
	now := time.Now()
	err := dynamo.NewCircuits(r.client, r.health).Hold(ctx,
		dynamo.EndpointKey{TenantID: text(i, "tenant_id"), EndpointID: endpointID}, now.Add(leased), now)
	if err != nil {
		return fmt.Errorf("storing a lease: %w", err)
	}
	return nil
}
