package event

import (
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// TooCostly begins the reason of data that is not checked to its end.
const TooCostly = "schema_too_costly"

// LongestCheck is the most work that the check of an event's data against its schema may take.
var LongestCheck = schema.In(time.Second)

// Mismatched makes the refusal of an event from the error of the check of its data. It returns nil if the data is not
// to blame.
func Mismatched(eventID string, err error) *Invalid {
	var mismatch *schema.Mismatch
	switch {
	case errors.Is(err, schema.ErrTooCostly):
		return &Invalid{eventID, "data", TooCostly + ": its schema takes over a second to check"}
	case errors.As(err, &mismatch):
		return &Invalid{eventID, "data", mismatch.Error()}
	}
	return nil
}
