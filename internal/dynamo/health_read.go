package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// ReaderClient is the part of the DynamoDB client that Reader calls.
type ReaderClient interface{ batchReader }

// ReaderConfig says what a Reader reads.
type ReaderConfig struct {
	Client         ReaderClient
	Endpoints      string // the tables
	EndpointHealth string
	WithoutSecrets bool // only what decides about an endpoint: no URL, no sealed secret
	EventualHealth bool // health may be a little behind, for half the price
}

// Reader reads endpoints together with their health and their tenants', strongly consistent unless it is
// configured otherwise: one BatchGetItem call where 100 keys are enough, two keys an endpoint and one a
// tenant. Without secrets it makes a call a table: the right to read endpoints is conditional on the attributes that
// are asked for, and IAM may evaluate that condition for everything that a call asks for.
type Reader struct{ config ReaderConfig }

// NewReader returns a Reader.
func NewReader(config ReaderConfig) *Reader { return &Reader{config} }

// Reading is what is known of one endpoint. Health that could not be read is not that of a
// healthy endpoint: then HealthRead is false, and View holds nothing but names.
type Reading struct {
	Endpoint   endpoint.Endpoint
	Found      bool // Endpoint exists
	View       health.View
	HealthRead bool
}

// Read reads what is known of the given endpoints. An error says that endpoints could not be
// read; health that cannot be read is no error.
func (r *Reader) Read(ctx context.Context, keys []EndpointKey) (map[EndpointKey]Reading, error) {
	result := readResult{
		endpoints: make(map[EndpointKey]endpoint.Endpoint, len(keys)),
		health:    make(map[string]health.Item),
		read:      make(map[string]bool, 2*len(keys)),
	}
	for _, wanted := range r.together(r.wanted(keys)) {
		for ask := range slices.Chunk(wanted, maxBatchReads) {
			if err := r.call(ctx, ask, &result); err != nil {
				return nil, fmt.Errorf("reading endpoints: %w", err)
			}
		}
	}
	found := make(map[EndpointKey]Reading, len(keys))
	for _, key := range keys {
		found[key] = result.of(key)
	}
	return found, nil
}

type wantedKey struct {
	table string
	key   attributes
}

// wanted lists every key once, those of one endpoint side by side.
func (r *Reader) wanted(keys []EndpointKey) []wantedKey {
	wanted := make([]wantedKey, 0, 3*len(keys))
	seen := make(map[any]bool, 2*len(keys))
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		names := []health.Item{{EndpointID: key.EndpointID}}
		if !seen[key.TenantID] {
			seen[key.TenantID] = true
			names = append(names, health.Item{TenantID: key.TenantID})
		}
		wanted = append(wanted, wantedKey{r.config.Endpoints, key.item()})
		for _, name := range names {
			wanted = append(wanted, wantedKey{r.config.EndpointHealth, healthKey(name)})
		}
	}
	return wanted
}

// together splits keys into those that calls may ask for together.
func (r *Reader) together(wanted []wantedKey) [][]wantedKey {
	if !r.config.WithoutSecrets {
		return [][]wantedKey{wanted}
	}
	var endpoints, health []wantedKey
	for _, w := range wanted {
		if w.table == r.config.Endpoints {
			endpoints = append(endpoints, w)
		} else {
			health = append(health, w)
		}
	}
	return [][]wantedKey{health, endpoints}
}

// healthTries bounds how often unprocessed keys of EndpointHealth are asked for again: nobody
// waits long for what decides nothing where it is missing.
const healthTries = 2

// call reads up to 100 keys. Where both tables together fail, endpoints are read alone.
func (r *Reader) call(ctx context.Context, wanted []wantedKey, result *readResult) error {
	ask := map[string][]attributes{}
	for _, w := range wanted {
		ask[w.table] = append(ask[w.table], w.key)
	}
	for try := range maxTries {
		out, err := r.config.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: r.request(ask)})
		switch {
		case err == nil:
			ask = r.take(out, ask, result)
		case ctx.Err() != nil, len(ask[r.config.EndpointHealth]) == 0:
			return err
		default:
			delete(ask, r.config.EndpointHealth)
			if len(ask) > 0 {
				continue
			}
		}
		if try >= healthTries {
			delete(ask, r.config.EndpointHealth)
		}
		if len(ask) == 0 {
			return nil
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d keys stay %w", len(ask[r.config.Endpoints]), ErrUnprocessed)
}

// statusAttributes are what decides about an endpoint.
const statusAttributes = "tenant_id, endpoint_id, #status, created_at, updated_at, deleted_at, secret_rotated_at"

func (r *Reader) request(ask map[string][]attributes) map[string]types.KeysAndAttributes {
	request := make(map[string]types.KeysAndAttributes, len(ask))
	for table, keys := range ask {
		behind := table == r.config.EndpointHealth && r.config.EventualHealth
		k := types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(!behind)}
		if table == r.config.Endpoints && r.config.WithoutSecrets {
			k.ProjectionExpression = aws.String(statusAttributes)
			k.ExpressionAttributeNames = map[string]string{"#status": "status"}
		}
		request[table] = k
	}
	return request
}

// take notes what was answered and returns what was not.
func (r *Reader) take(
	out *dynamodb.BatchGetItemOutput, ask map[string][]attributes, result *readResult,
) map[string][]attributes {
	for _, item := range out.Responses[r.config.Endpoints] {
		e := endpointOf(item)
		result.endpoints[EndpointKey{e.TenantID, e.ID}] = e
	}
	for _, item := range out.Responses[r.config.EndpointHealth] {
		result.health[getStr(item, "scope")] = healthItemOf(item)
	}
	for _, key := range ask[r.config.EndpointHealth] {
		result.read[getStr(key, "scope")] = true
	}
	left := map[string][]attributes{}
	for table, unprocessed := range out.UnprocessedKeys {
		if len(unprocessed.Keys) > 0 {
			left[table] = unprocessed.Keys
		}
	}
	for _, key := range left[r.config.EndpointHealth] {
		result.read[getStr(key, "scope")] = false
	}
	return left
}

type readResult struct {
	endpoints map[EndpointKey]endpoint.Endpoint
	health    map[string]health.Item // by scope
	read      map[string]bool        // scopes that were answered, found or not
}

func (r *readResult) of(key EndpointKey) Reading {
	e, found := r.endpoints[key]
	reading := Reading{
		Endpoint: e, Found: found,
		View: health.View{TenantID: key.TenantID, EndpointID: key.EndpointID},
	}
	own, tenant := scopeOf(health.Item{EndpointID: key.EndpointID}), scopeOf(health.Item{TenantID: key.TenantID})
	if reading.HealthRead = r.read[own] && r.read[tenant]; reading.HealthRead {
		reading.View.Endpoint, reading.View.Tenant = r.health[own], r.health[tenant]
	}
	return reading
}
