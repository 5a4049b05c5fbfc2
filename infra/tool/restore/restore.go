package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

const (
	pageSize = 100 // items that are read at once
	atOnce   = 16  // reads or writes under way
)

type item = map[string]types.AttributeValue

// restorer restores one table.
type restorer struct {
	options
	plan   plan
	client *dynamodb.Client
	kms    *kms.Client
	ownKey string // under which the stack seals the table's values; options.key opens those of another stack
	into   string // the stack's own table
	writes *time.Ticker
	done   counts

	deliveries, health string // other tables of the stack
}

// counts are a restore's results, by item.
type counts struct {
	Read     int
	Restored int // or would be
	Kept     int // there already, and left as they are
	Left     int // that must not come back
	Mended   int // counts of endpoints that were wrong
}

func (c counts) String() string {
	return fmt.Sprintf("%d read, %d restored, %d there already, %d left out, %d counts mended",
		c.Read, c.Restored, c.Kept, c.Left, c.Mended)
}

// open finds the stack's table, and checks the copy.
func open(ctx context.Context, cfg aws.Config, o options) (*restorer, error) {
	names, err := client.Names(ctx, cloudformation.NewFromConfig(cfg), o.stack)
	if err != nil {
		return nil, err
	}
	r := &restorer{
		options: o, plan: plans[o.table], client: dynamodb.NewFromConfig(cfg), kms: kms.NewFromConfig(cfg),
		ownKey: names[plans[o.table].sealedBy], into: names[o.table],
		writes:     time.NewTicker(time.Second / time.Duration(o.rate)),
		deliveries: names["Deliveries"], health: names["EndpointHealth"],
	}
	if r.into == "" || r.deliveries == "" || r.health == "" {
		return nil, fmt.Errorf("-stack %s is no stack of Herald: it lacks %s, Deliveries or EndpointHealth", o.stack, o.table)
	}
	if r.into == o.from {
		return nil, fmt.Errorf("-from %s is the stack's own table, not a copy", o.from)
	}
	out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &o.from})
	if err != nil {
		return nil, fmt.Errorf("describing table %s: %w", o.from, err)
	}
	if out.Table.TableStatus != types.TableStatusActive {
		return nil, fmt.Errorf("-from %s is %s; wait until it is active", o.from, out.Table.TableStatus)
	}
	var key []string
	for _, part := range out.Table.KeySchema {
		key = append(key, aws.ToString(part.AttributeName))
	}
	if !slices.Equal(key, r.plan.key) {
		return nil, fmt.Errorf("-from %s is no copy of %s: its key is another", o.from, o.table)
	}
	return r, nil
}

// run restores a page of the copy after the other.
func (r *restorer) run(ctx context.Context) error {
	scan := &dynamodb.ScanInput{TableName: &r.from, Limit: aws.Int32(pageSize)}
	if r.tenant != "" {
		scan.FilterExpression = aws.String("tenant_id IN (:tenant, :marks)")
		scan.ExpressionAttributeValues = item{
			":tenant": &types.AttributeValueMemberS{Value: r.tenant},
			":marks":  &types.AttributeValueMemberS{Value: marksPrefix + r.tenant},
		}
	}
	for pages := dynamodb.NewScanPaginator(r.client, scan); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("reading %s: %w", r.from, err)
		}
		if err := r.page(ctx, page.Items); err != nil {
			return err
		}
	}
	return nil
}

// page restores a page of items.
func (r *restorer) page(ctx context.Context, items []item) error {
	there, err := r.get(ctx, items)
	if err != nil {
		return err
	}
	var missing []item // or, if it is to be overwritten, in another form
	for n, i := range items {
		if there[n] == nil || r.overwrite && !reflect.DeepEqual(there[n], i) {
			missing = append(missing, i)
		}
	}
	back := missing
	if r.plan.choose != nil {
		back, err = r.plan.choose(ctx, r, missing)
		if err != nil {
			return err
		}
	}
	mended := 0
	if !r.dryRun {
		if err := r.write(ctx, back); err != nil {
			return err
		}
		if r.plan.mend != nil {
			mended, err = r.plan.mend(ctx, r, items)
			if err != nil {
				return err
			}
		}
	}
	r.done.Read += len(items)
	r.done.Kept += len(items) - len(missing)
	r.done.Left += len(missing) - len(back)
	r.done.Restored += len(back)
	r.done.Mended += mended
	return nil
}

// write puts items into the stack's table. A newer item under the same key stays, unless it is to be overwritten.
func (r *restorer) write(ctx context.Context, items []item) error {
	return errors.Join(parallel.Each(len(items), atOnce, func(n int) error {
		select {
		case <-r.writes.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.plan.before != nil {
			if err := r.plan.before(ctx, r, items[n]); err != nil {
				return err
			}
		}
		put := &dynamodb.PutItemInput{TableName: &r.into, Item: items[n]}
		if r.key != "" {
			var err error
			put.Item, err = r.plan.reseal(ctx, r, items[n])
			if err != nil {
				return err
			}
		}
		if !r.overwrite {
			put.ConditionExpression = aws.String("attribute_not_exists(" + r.plan.key[0] + ")")
		}
		_, err := r.client.PutItem(ctx, put)
		var there *types.ConditionalCheckFailedException
		if errors.As(err, &there) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("writing to %s: %w", r.into, err)
		}
		return nil
	})...)
}

// get reads the stack's items that have the keys of others, strongly consistent: nil for one that is not there.
func (r *restorer) get(ctx context.Context, others []item) ([]item, error) {
	found := make([]item, len(others))
	err := errors.Join(parallel.Each(len(others), atOnce, func(n int) error {
		ask := &dynamodb.GetItemInput{TableName: &r.into, Key: item{}, ConsistentRead: aws.Bool(true)}
		for _, name := range r.plan.key {
			ask.Key[name] = others[n][name]
		}
		out, err := r.client.GetItem(ctx, ask)
		if err != nil {
			return fmt.Errorf("reading %s: %w", r.into, err)
		}
		found[n] = out.Item
		return nil
	})...)
	return found, err
}

// text is an attribute that is a text, "" for another.
func text(i item, name string) string {
	value, ok := i[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return value.Value
}
