package testkit

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fault happens to a call instead of, before or after its being forwarded. It is one of [Fail], [Throttle],
// [Unavailable], [Hang], [Refuse], [DropAnswer], [FindNothing], [FailEntries] and [Unprocessed].
type Fault func(ctx context.Context, c Call, forward forwarder) (answer, error)

// forwarder performs a call with this body.
type forwarder = func(body []byte) (answer, error)

// Fail answers status with the AWS error code and does not perform the call.
func Fail(status int, code string) Fault {
	return func(context.Context, Call, forwarder) (answer, error) {
		return failure(status, code), nil
	}
}

// Throttle answers as a throttled service does; the SDK retries it.
func Throttle() Fault { return Fail(http.StatusBadRequest, "ThrottlingException") }

// Unavailable answers 503; the SDK retries it.
func Unavailable() Fault { return Fail(http.StatusServiceUnavailable, "ServiceUnavailable") }

// Hang neither performs nor answers the call until the client gives up.
func Hang() Fault {
	return func(ctx context.Context, _ Call, _ forwarder) (answer, error) {
		<-ctx.Done()
		return answer{}, nil
	}
}

// Refuse cuts the connection without performing the call.
func Refuse() Fault {
	return func(context.Context, Call, forwarder) (answer, error) { return answer{}, nil }
}

// DropAnswer performs the call and then cuts the connection, so that the client cannot know.
func DropAnswer() Fault {
	return func(_ context.Context, c Call, forward forwarder) (answer, error) {
		if _, err := forward(c.Body); err != nil {
			return answer{}, err
		}
		return answer{}, nil
	}
}

// FindNothing answers a Query as if no row were there, like a Query beside a row that moves.
func FindNothing() Fault {
	return func(_ context.Context, c Call, _ forwarder) (answer, error) {
		return emptyAnswer(c, `{"Items":[],"Count":0,"ScannedCount":0}`), nil
	}
}

// FailEntries makes the entries at these positions of an SQS batch call (SendMessageBatch,
// ChangeMessageVisibilityBatch, DeleteMessageBatch) fail inside a 200 with code, as a fault
// of the service; the others are performed. Without positions all of them fail.
func FailEntries(code string, positions ...int) Fault {
	return func(_ context.Context, c Call, forward forwarder) (answer, error) {
		var request map[string]jsontext.Value
		var entries []jsontext.Value
		if err := json.Unmarshal(c.Body, &request); err != nil {
			return answer{}, err
		}
		if err := json.Unmarshal(request["Entries"], &entries); err != nil {
			return answer{}, err
		}
		var performed []jsontext.Value
		failed := []failedEntry{}
		for i, entry := range entries {
			if len(positions) > 0 && !slices.Contains(positions, i) {
				performed = append(performed, entry)
				continue
			}
			lost := failedEntry{Code: code, Message: "made to fail by the test kit"}
			if err := json.Unmarshal(entry, &lost); err != nil {
				return answer{}, err
			}
			failed = append(failed, lost)
		}
		got := emptyAnswer(c, `{"Successful":[]}`)
		var err error
		if len(performed) > 0 {
			if got, err = forwardWith(request, "Entries", performed, forward); err != nil || got.status != http.StatusOK {
				return got, err
			}
		}
		return got.merge("Failed", failed)
	}
}

type failedEntry struct {
	ID          string `json:"Id"`
	SenderFault bool
	Code        string
	Message     string
}

// Unprocessed makes DynamoDB hand back all but the first done requests of a BatchWriteItem or keys of a
// BatchGetItem as unprocessed, inside a 200; the first ones, counted over the tables by name, are performed.
func Unprocessed(done int) Fault {
	return func(_ context.Context, c Call, forward forwarder) (answer, error) {
		var request map[string]jsontext.Value
		var tables map[string]jsontext.Value
		if err := json.Unmarshal(c.Body, &request); err != nil {
			return answer{}, err
		}
		if err := json.Unmarshal(request["RequestItems"], &tables); err != nil {
			return answer{}, err
		}
		performed, left, err := splitTables(tables, c.Action == "BatchGetItem", done)
		if err != nil {
			return answer{}, err
		}
		field, got := "UnprocessedItems", emptyAnswer(c, `{}`)
		if c.Action == "BatchGetItem" {
			field, got = "UnprocessedKeys", emptyAnswer(c, `{"Responses":{}}`)
		}
		if len(performed) > 0 {
			if got, err = forwardWith(request, "RequestItems", performed, forward); err != nil || got.status != http.StatusOK {
				return got, err
			}
		}
		return got.merge(field, left)
	}
}

// splitTables cuts the items of a batch request after the first done of them.
// A write lists its items plainly; a read has them under Keys, beside options that belong to both halves.
func splitTables(tables map[string]jsontext.Value, read bool, done int) (performed, left map[string]any, err error) {
	performed, left = map[string]any{}, map[string]any{}
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list := tables[name]
		var options map[string]jsontext.Value
		if read {
			if err := json.Unmarshal(list, &options); err != nil {
				return nil, nil, err
			}
			list = options["Keys"]
		}
		var items []jsontext.Value
		if err := json.Unmarshal(list, &items); err != nil {
			return nil, nil, err
		}
		n := min(done, len(items))
		done -= n
		for half, part := range map[*map[string]any][]jsontext.Value{&performed: items[:n], &left: items[n:]} {
			if len(part) > 0 {
				(*half)[name] = withOptions(options, part)
			}
		}
	}
	return performed, left, nil
}

func withOptions(options map[string]jsontext.Value, items []jsontext.Value) any {
	if options == nil {
		return items
	}
	whole := map[string]any{}
	for name, value := range options {
		whole[name] = value
	}
	whole["Keys"] = items
	return whole
}

// forwardWith performs the request with one field replaced.
func forwardWith(request map[string]jsontext.Value, field string, value any, forward forwarder) (answer, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return answer{}, err
	}
	request[field] = encoded
	body, err := json.Marshal(request)
	if err != nil {
		return answer{}, err
	}
	return forward(body)
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
