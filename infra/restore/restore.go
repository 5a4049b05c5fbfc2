package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/parallel"
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
	stack  stack
	kms    *kms.Client
	ownKey string // under which the stack seals the table's values; options.key opens those of another stack
	into   string // the stack's own table
	writes *time.Ticker
	done   counts
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

// stack is the plans' view of the stack.
type stack struct {
	client             *dynamodb.Client
	deliveries, health string // tables
}

// open finds both tables.
func open(ctx context.Context, cfg aws.Config, o options) (*restorer, error) {
	r := &restorer{options: o, plan: plans[o.table], writes: time.NewTicker(time.Second / time.Duration(o.rate))}
	r.stack.client = dynamodb.NewFromConfig(cfg)
	r.kms = kms.NewFromConfig(cfg)
	names, err := client.Names(ctx, cloudformation.NewFromConfig(cfg), o.stack)
	if err != nil {
		return nil, err
	}
	r.into, r.ownKey = names[o.table], names[r.plan.sealedBy]
	r.stack.deliveries, r.stack.health = names["Deliveries"], names["EndpointHealth"]
	if r.into == "" || r.stack.deliveries == "" || r.stack.health == "" {
		return nil, fmt.Errorf("-stack %s is no stack of Herald: it lacks %s, Deliveries or EndpointHealth", o.stack, o.table)
	}
	if r.into == o.from {
		return nil, fmt.Errorf("-from %s is the stack's own table, not a copy", o.from)
	}
	var described [2]*types.TableDescription
	for n, table := range []string{r.into, o.from} {
		out, err := r.stack.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			return nil, fmt.Errorf("describing table %s: %w", table, err)
		}
		described[n] = out.Table
	}
	own, copied := described[0], described[1]
	if copied.TableStatus != types.TableStatusActive {
		return nil, fmt.Errorf("-from %s is %s; wait until it is active", o.from, copied.TableStatus)
	}
	if !reflect.DeepEqual(own.KeySchema, copied.KeySchema) {
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
	for pages := dynamodb.NewScanPaginator(r.stack.client, scan); pages.HasMorePages(); {
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
	there, err := r.stack.get(ctx, r.into, r.plan.key, items)
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
		if back, err = r.plan.choose(ctx, r.stack, r.into, missing); err != nil {
			return err
		}
	}
	mended := 0
	if !r.dryRun {
		if err := r.write(ctx, back); err != nil {
			return err
		}
		if r.plan.mend != nil {
			if mended, err = r.plan.mend(ctx, r.stack, r.into, items); err != nil {
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

// write puts items into the stack's table. One that has come there meanwhile stays, unless it is to be overwritten.
func (r *restorer) write(ctx context.Context, items []item) error {
	return errors.Join(parallel.Each(len(items), atOnce, func(n int) error {
		select {
		case <-r.writes.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.plan.before != nil {
			if err := r.plan.before(ctx, r.stack, items[n]); err != nil {
				return err
			}
		}
		put := &dynamodb.PutItemInput{TableName: &r.into, Item: items[n]}
		if r.key != "" {
			var err error
			if put.Item, err = r.plan.reseal(ctx, r, items[n]); err != nil {
				return err
			}
		}
		if !r.overwrite {
			put.ConditionExpression = aws.String("attribute_not_exists(" + r.plan.key[0] + ")")
		}
		_, err := r.stack.client.PutItem(ctx, put)
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

// get reads the items of a table that have the keys of others, strongly consistent: nil for one that is not there.
func (s stack) get(ctx context.Context, table string, key []string, others []item) ([]item, error) {
	found := make([]item, len(others))
	err := errors.Join(parallel.Each(len(others), atOnce, func(n int) error {
		ask := &dynamodb.GetItemInput{TableName: &table, Key: item{}, ConsistentRead: aws.Bool(true)}
		for _, name := range key {
			ask.Key[name] = others[n][name]
		}
		out, err := s.client.GetItem(ctx, ask)
		if err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
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
