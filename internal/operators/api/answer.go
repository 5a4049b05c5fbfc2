package api

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EncodeAnswer writes an answer, or a part of one for the audit log. Zero times are null. Empty lists and maps are []
// and {}, never null.
func EncodeAnswer(answer any) (jsontext.Value, error) { return json.Marshal(answer, encoding) }

var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.WithMarshalers(json.MarshalToFunc(timeOrNull)))

// timeOrNull writes a zero time as null. The year 1 would be taken for a time.
func timeOrNull(to *jsontext.Encoder, t time.Time) error {
	if t.IsZero() {
		return to.WriteToken(jsontext.Null)
	}
	return errors.ErrUnsupported // the encoder's own way
}
