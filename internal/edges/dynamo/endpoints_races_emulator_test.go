//go:build emulator

package dynamo_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// turns lets one request at a time make its next call to DynamoDB. Calls are atomic, so the orders of turns are all the
// interleavings that there are.
type turns struct {
	arrived chan int              // a request has a call to make
	ended   chan int              // a request is done
	next    map[int]chan struct{} // lets it make the call
}

type requestKey struct{}

func (s *turns) wait(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Turns", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if request, ok := ctx.Value(requestKey{}).(int); ok {
			s.arrived <- request
			<-s.next[request]
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// play makes the requests. pick decides which of the calls that wait is made next.
func (s *turns) play(ctx context.Context, requests []func(context.Context), pick func(waiting []int) int) {
	s.arrived, s.ended, s.next = make(chan int), make(chan int), map[int]chan struct{}{}
	for n := range requests {
		s.next[n] = make(chan struct{})
	}
	for n, request := range requests {
		go func() {
			request(context.WithValue(ctx, requestKey{}, n))
			s.ended <- n
		}()
	}
	var waiting []int
	for running, left := len(requests), len(requests); left > 0; {
		for ; running > 0; running-- { // until every request waits for its turn or is done
			select {
			case n := <-s.arrived:
				waiting = append(waiting, n)
			case <-s.ended:
				left--
			}
		}
		if len(waiting) > 0 {
			slices.Sort(waiting)
			at := pick(waiting)
			n := waiting[at]
			waiting = append(waiting[:at], waiting[at+1:]...)
			running++
			s.next[n] <- struct{}{}
		}
	}
}

var errRefused = errors.New("refused")

// fewAtHost is the rule of the management API, with room for two endpoints at a host.
func fewAtHost(e endpoint.Endpoint) dynamo.Check {
	return func(live []endpoint.Endpoint) error {
		atHost := 0
		for _, other := range live {
			if other.ID != e.ID && other.Host() == e.Host() {
				atHost++
			}
			if other.ID != e.ID && other.URL == e.URL || atHost >= 2 {
				return errRefused
			}
		}
		return nil
	}
}

// race is a tenant with a number of endpoints just below the limit, some at the host that requests compete for.
type race struct {
	s          *dynamo.Endpoints
	tenant     string
	live, gone []endpoint.Endpoint
}

func (r *race) add(t *rapid.T, url string) endpoint.Endpoint {
	e := newEndpoint(r.tenant, createdAt)
	e.URL = url
	if err := r.s.Create(context.Background(), e, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// request draws a change of an endpoint that no other request changes.
func (r *race) request(t *rapid.T) (name string, change func(context.Context) error) {
	host, path := rapid.IntRange(0, 1).Draw(t, "host"), rapid.IntRange(0, 1).Draw(t, "path")
	url := fmt.Sprintf("https://h%d.example/%d", host, path)
	switch kind := rapid.SampledFrom([]string{"create", "move", "restore", "delete"}).Draw(t, "kind"); {
	case kind == "move" && len(r.live) > 0:
		was := r.live[0]
		now := same(was)
		now.URL, r.live = url, r.live[1:]
		return kind, func(ctx context.Context) error { return r.s.Readdress(ctx, was, now, fewAtHost(now)) }
	case kind == "restore" && len(r.gone) > 0:
		was := r.gone[0]
		r.gone = r.gone[1:]
		return kind, func(ctx context.Context) error { return r.s.Readdress(ctx, was, back(was), fewAtHost(was)) }
	case kind == "delete" && len(r.live) > 0:
		was := r.live[0]
		r.live = r.live[1:]
		return kind, func(ctx context.Context) error { return r.s.Replace(ctx, was, gone(was, createdAt)) }
	}
	e := newEndpoint(r.tenant, createdAt)
	e.URL = url
	return "create " + url, func(ctx context.Context) error { return r.s.Create(ctx, e, fewAtHost(e)) }
}

// No URL twice, at most two at a host and fifty in all, whatever the order of the calls, and every request ends:
// it is done, or refused for the rows that are there.
func TestEndpoints_keepTheirBoundsInEveryInterleaving(t *testing.T) {
	r, order := newRig(t), &turns{}
	client := dynamodb.NewFromConfig(testkit.Moto(t), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, order.wait)
	})
	drawn := flag.Lookup("rapid.checks").Value // an order takes some fifty calls
	defer func(before string) { _ = drawn.Set(before) }(drawn.String())
	if err := drawn.Set("25"); err != nil {
		t.Fatal(err)
	}
	s, played := dynamo.NewEndpoints(client, r.tables.Endpoints), 0
	rapid.Check(t, func(t *rapid.T) {
		played++
		c := &race{s: s, tenant: fmt.Sprint("tenant_", played)}
		for n := range 2 {
			c.live = append(c.live, c.add(t, fmt.Sprintf("https://x%d.example/", n)))
			e := c.add(t, fmt.Sprintf("https://h%d.example/0", n%2))
			c.gone = append(c.gone, gone(e, createdAt))
			if err := s.Replace(context.Background(), e, c.gone[n]); err != nil {
				t.Fatal(err)
			}
		}
		free := rapid.IntRange(0, 3).Draw(t, "free")
		r.setLive(t, c.tenant, endpoint.MaxLive-free) // as if others were there
		var requests []func(context.Context)
		verdicts := make([]error, rapid.IntRange(2, 4).Draw(t, "requests"))
		names := make([]string, len(verdicts))
		for n := range verdicts {
			name, change := c.request(t)
			names[n] = name
			requests = append(requests, func(ctx context.Context) {
				for {
					if verdicts[n] = change(ctx); !errors.Is(verdicts[n], dynamo.ErrBusy) {
						return
					}
				}
			})
		}
		order.play(context.Background(), requests, func(waiting []int) int {
			return rapid.IntRange(0, len(waiting)-1).Draw(t, "turn")
		})
		c.check(t, r, names, verdicts, free)
	})
}

func (r *race) check(t *rapid.T, of rig, names []string, verdicts []error, free int) {
	live, err := r.s.Live(context.Background(), r.tenant)
	if err != nil {
		t.Fatal(err)
	}
	for n, err := range verdicts {
		if err != nil && !errors.Is(err, errRefused) && !errors.Is(err, dynamo.ErrLimit) {
			t.Errorf("%s: %v", names[n], err)
		}
	}
	hosts, urls := map[string]int{}, map[string]bool{}
	for _, e := range live {
		hosts[e.Host()]++
		if urls[e.URL] || hosts[e.Host()] > 2 {
			t.Errorf("%s is there twice, or its host three times: %v %v", e.URL, names, verdicts)
		}
		urls[e.URL] = true
	}
	if counted := of.liveCount(t, r.tenant); counted > endpoint.MaxLive || counted != endpoint.MaxLive-free+len(live)-2 {
		t.Errorf("%d are counted with %d here, from %d with 2: %v %v",
			counted, len(live), endpoint.MaxLive-free, names, verdicts)
	}
}

func (r rig) setLive(t *rapid.T, tenant string, live int) {
	n := &types.AttributeValueMemberN{Value: strconv.Itoa(live)}
	if _, err := r.client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &r.tables.Endpoints, Key: rowKey(tenant, "#counts"),
		UpdateExpression: aws.String("SET live_count = :n"), ExpressionAttributeValues: item{":n": n},
	}); err != nil {
		t.Fatal(err)
	}
}

func (r rig) liveCount(t *rapid.T, tenant string) int {
	out, err := r.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &r.tables.Endpoints, Key: rowKey(tenant, "#counts"),
	})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := out.Item["live_count"].(*types.AttributeValueMemberN)
	counted, err := strconv.Atoi(n.Value)
	if err != nil {
		t.Fatal(err)
	}
	return counted
}
