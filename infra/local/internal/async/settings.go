package async

import (
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/sam"
)

// ReadSettings returns what a template's EventInvokeConfig says of a function, by logical id, and Lambda's
// own settings for what it does not say.
func ReadSettings(t *sam.Template, functionID string) (Settings, error) {
	s := Settings{MaximumRetryAttempts: DefaultRetryAttempts, MaximumEventAge: DefaultEventAge}
	for _, r := range t.Resources("AWS::Lambda::EventInvokeConfig") {
		if sam.Reference(r.Properties["FunctionName"]) != functionID {
			continue
		}
		if given := r.Properties["MaximumRetryAttempts"]; given != nil {
			n, ok := t.Number(given)
			if !ok || n < 0 || n > 2 {
				return s, fmt.Errorf("%s: MaximumRetryAttempts is %v, want 0, 1 or 2", r.ID, given)
			}
			s.MaximumRetryAttempts = n
		}
		if given := r.Properties["MaximumEventAgeInSeconds"]; given != nil {
			n, ok := t.Number(given)
			if !ok || n < 60 || n > 21600 {
				return s, fmt.Errorf("%s: MaximumEventAgeInSeconds is %v, want 60 to 21600", r.ID, given)
			}
			s.MaximumEventAge = time.Duration(n) * time.Second
		}
	}
	return s, nil
}
