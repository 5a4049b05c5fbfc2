package commands

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// sayTimes repeats the times by which a line selects, as they were understood.
func (c call) sayTimes(fields usage.Fields) {
	for _, m := range fields.Times() {
		c.Say("%s", m.Words(c.Now().Location()))
	}
}

// moment is a time in UTC, and on this machine.
type moment struct {
	UTC   time.Time `json:"utc"`
	Local time.Time `json:"local"`
}

// timed is a list as JSON with the times by which it was selected, named by what happened then.
func (c call) timed(list jsontext.Value) (jsontext.Value, error) {
	all := c.fields.Times()
	if len(all) == 0 {
		return list, nil
	}
	named := map[string]moment{}
	for _, m := range all {
		named[m.Name] = moment{m.At.UTC(), m.At.In(c.Now().Location())}
	}
	return json.Marshal(struct {
		List  jsontext.Value    `json:",embed"`
		Times map[string]moment `json:"times"`
	}{list, named}, json.Deterministic(true))
}
