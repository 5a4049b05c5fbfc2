package main

import (
	"encoding/base64"
	"strings"

	"github.com/herald-webhooks/herald/internal/dynamo"
)

// healthTable holds nothing: all endpoints are healthy.
const healthTable = "EndpointHealth"

// endpoints answers a BatchGetItem with every endpoint asked for. None is in trouble.
func (f *fakeAWS) endpoints(in request) any {
	responses := map[string]any{}
	for table, ask := range in.RequestItems {
		items := []any{}
		if table == healthTable {
			responses[table] = items
			continue
		}
		for _, key := range ask.(map[string]any)["Keys"].([]any) {
			id := key.(map[string]any)["endpoint_id"].(map[string]any)["S"].(string)
			if id != dynamo.StopsKey { // no tenant is paused
				items = append(items, f.endpoint(id))
			}
		}
		responses[table] = items
	}
	return map[string]any{"Responses": responses, "UnprocessedKeys": map[string]any{}}
}

// query answers with one subscription.
func (f *fakeAWS) query() any {
	return map[string]any{"Items": []any{f.endpoint(endpointID(0))}, "Count": 1}
}

func (f *fakeAWS) endpoint(id string) attribute {
	s := func(v string) attribute { return attribute{"S": v} }
	return attribute{
		"tenant_id": s(tenant), "endpoint_id": s(id), "url": s(f.receiver),
		"status": s("active"), "description": s("benchmark"),
		"created_at": s("2026-01-02T03:04:05.000Z"), "updated_at": s("2026-01-02T03:04:05.000Z"),
		"events": attribute{"L": []attribute{s("user.*")}}, "secret_version": attribute{"N": "1"},
		"sealed_secret": attribute{"B": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 200)))},
	}
}
