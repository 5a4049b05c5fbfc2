package rejected

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WithID is the event's body. If the body has no id, it gets the id under which the event was first seen. Otherwise
// publishing would make a new SQS message, whose id would serve: the same event would fan out again under other
// delivery ids, and a receiver could not tell. Nothing else of the body changes.
func WithID(e Event) []byte {
	body := []byte(e.Body)
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields); err != nil || len(fields) == 0 || fields["id"] != nil {
		return body
	}
	id, err := json.Marshal(e.EventID)
	if err != nil {
		return body
	}
	open := bytes.IndexByte(body, '{') + 1
	return slices.Concat(body[:open], []byte(`"id":`), id, []byte(","), body[open:])
}
