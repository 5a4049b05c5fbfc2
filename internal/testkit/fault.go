package testkit

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Fault happens to a call instead of, before or after its being forwarded. It is one of [Fail], [Throttle],
// [Unavailable], [Conflict], [DropAnswer], [FindNothing] and [Unprocessed].
type Fault func(c Call, forward forwarder) (answer, error)

// forwarder performs a call with this body.
type forwarder = func(body []byte) (answer, error)

// Fail answers status with the AWS error code and does not perform the call.
func Fail(status int, code string) Fault {
	return func(Call, forwarder) (answer, error) {
		return failure(status, code), nil
	}
}

// Throttle answers as a throttled service does; the SDK retries it.
func Throttle() Fault { return Fail(http.StatusBadRequest, "ThrottlingException") }

// Unavailable answers 503; the SDK retries it.
func Unavailable() Fault { return Fail(http.StatusServiceUnavailable, "ServiceUnavailable") }

// Conflict answers a transaction as DynamoDB does while another transaction holds one of its rows. The emulator cannot
// do this by itself.
func Conflict() Fault {
	return func(Call, forwarder) (answer, error) {
		a := failure(http.StatusBadRequest, "TransactionCanceledException")
		return a.merge("CancellationReasons", []map[string]string{{"Code": "None"}, {"Code": "TransactionConflict"}})
	}
}

// DropAnswer performs the call and then cuts the connection, so that the client cannot know.
func DropAnswer() Fault {
	return func(c Call, forward forwarder) (answer, error) {
		if _, err := forward(c.Body); err != nil {
			return answer{}, err
		}
		return answer{}, nil
	}
}

// FindNothing answers a Query as if no row were there, like a Query during the move of a row.
func FindNothing() Fault {
	return func(c Call, _ forwarder) (answer, error) {
		return emptyAnswer(c, `{"Items":[],"Count":0,"ScannedCount":0}`), nil
	}
}

// Unprocessed makes DynamoDB hand back all but the first done requests of a BatchWriteItem or keys of a
// BatchGetItem as unprocessed, inside a 200; the first ones, counted over the tables by name, are performed.
func Unprocessed(done int) Fault {
	return func(c Call, forward forwarder) (answer, error) {
		var request map[string]any
		if err := json.Unmarshal(c.Body, &request); err != nil {
			return answer{}, err
		}
		tables, _ := request["RequestItems"].(map[string]any)
		performed, left := splitTables(tables, done)
		field, got := "UnprocessedItems", emptyAnswer(c, `{}`)
		if c.Action == "BatchGetItem" {
			field, got = "UnprocessedKeys", emptyAnswer(c, `{"Responses":{}}`)
		}
		if len(performed) > 0 {
			request["RequestItems"] = performed
			body, err := json.Marshal(request)
			if err != nil {
				return answer{}, err
			}
			got, err = forward(body)
			if err != nil || got.status != http.StatusOK {
				return got, err
			}
		}
		return got.merge(field, left)
	}
}

// splitTables cuts the items of a batch request after the first done of them.
// A write lists its items plainly. A read has them under Keys, together with options that belong to both halves.
func splitTables(tables map[string]any, done int) (performed, left map[string]any) {
	performed, left = map[string]any{}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		items, _ := tables[name].([]any)
		options, read := tables[name].(map[string]any)
		if read {
			items, _ = options["Keys"].([]any)
		}
		put := func(half map[string]any, part []any) {
			if len(part) == 0 {
				return
			}
			half[name] = part
			if read {
				whole := maps.Clone(options)
				whole["Keys"], half[name] = part, whole
			}
		}
		n := min(done, len(items))
		done -= n
		put(performed, items[:n])
		put(left, items[n:])
	}
	return performed, left
}

// merge returns a with one field of its JSON body replaced. The emulator's checksum no longer holds then.
func (a answer) merge(field string, value any) (answer, error) {
	var content map[string]any
	if err := json.Unmarshal(a.body, &content); err != nil {
		return answer{}, err
	}
	content[field] = value
	body, err := json.Marshal(content)
	a.body = body
	a.header.Del("X-Amz-Crc32")
	return a, err
}

// emptyAnswer is a success without any effect.
func emptyAnswer(c Call, body string) answer {
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {c.Header.Get("Content-Type")}},
		body: []byte(body)}
}

// failure is an AWS error in the JSON protocols' form, with the header the query-compatible ones add.
func failure(status int, code string) answer {
	who := "Receiver"
	if status < http.StatusInternalServerError {
		who = "Sender"
	}
	return answer{
		status: status,
		header: http.Header{
			"Content-Type":       {"application/x-amz-json-1.0"},
			"X-Amzn-Query-Error": {code + ";" + who},
		},
		body: []byte(`{"__type":"com.amazonaws#` + strings.ReplaceAll(code, `"`, "") +
			`","message":"made to fail by the test kit"}`),
	}
}
