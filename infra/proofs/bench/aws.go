package main

import (
	"crypto/md5" //nolint:gosec // the checksum of the SQS protocol
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
)

// fakeAWS answers the few calls of the handlers over the wire protocol. It answers as fast as it can, so that AWS's own
// time is not measured.
type fakeAWS struct {
	receiver string // URL of every endpoint
	calls    atomic.Int64
}

type object = map[string]any

func (f *fakeAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls.Add(1)
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	out, err := f.result(action, json.NewDecoder(r.Body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		log.Print(err)
	}
}

func (f *fakeAWS) result(action string, in *json.Decoder) (any, error) {
	switch action {
	case "BatchGetItem":
		return f.items(in)
	case "Query":
		return object{"Items": []object{f.endpoint(endpointID)}, "Count": 1}, nil
	case "BatchWriteItem":
		return object{"UnprocessedItems": object{}}, nil
	case "Decrypt":
		return object{"Plaintext": base64.StdEncoding.EncodeToString([]byte(secret)), "KeyId": "key"}, nil
	case "SendMessageBatch":
		return taken(in)
	default:
		return nil, errors.New("the benchmark does not answer " + action)
	}
}

// items answers with every endpoint asked for, and with no circuits: all endpoints are healthy.
func (f *fakeAWS) items(in *json.Decoder) (any, error) {
	var ask struct {
		RequestItems map[string]struct {
			Keys []map[string]struct{ S string }
		}
	}
	if err := in.Decode(&ask); err != nil {
		return nil, err
	}
	responses := object{}
	for table, of := range ask.RequestItems {
		items := []object{}
		for _, key := range of.Keys {
			if id := key["endpoint_id"].S; strings.HasPrefix(id, "webhook_") {
				items = append(items, f.endpoint(id))
			}
		}
		responses[table] = items
	}
	return object{"Responses": responses, "UnprocessedKeys": object{}}, nil
}

func (f *fakeAWS) endpoint(id string) object {
	s := func(v string) object { return object{"S": v} }
	return object{
		"tenant_id": s(tenant), "endpoint_id": s(id), "url": s(f.receiver),
		"status": s("active"), "description": s("benchmark"),
		"created_at": s("2026-01-02T03:04:05.000Z"), "updated_at": s("2026-01-02T03:04:05.000Z"),
		"events": object{"L": []object{s("user.*")}}, "secret_version": object{"N": "1"},
		"sealed_secret": object{"B": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 200)))},
	}
}

func taken(in *json.Decoder) (any, error) {
	var ask struct {
		Entries []struct{ Id, MessageBody string }
	}
	if err := in.Decode(&ask); err != nil {
		return nil, err
	}
	var entries []object
	for _, e := range ask.Entries {
		sum := md5.Sum([]byte(e.MessageBody)) //nolint:gosec // the checksum of the SQS protocol
		entries = append(entries, object{"Id": e.Id, "MessageId": e.Id, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	return object{"Successful": entries, "Failed": []any{}}, nil
}
