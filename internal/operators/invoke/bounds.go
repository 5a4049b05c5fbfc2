package invoke

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxText bounds every string of a request, in characters: so many fit into any key of DynamoDB, and the strings of a
// hundred jobs into an answer.
const maxText = 256

// longer are the fields with another bound, in characters.
var longer = map[string]int{
	"cursor": 8 << 10,
	// of imports: webhooks bounds each of their strings, and refuses that endpoint alone
	"endpoints": 8 << 10,
	// as it was published
	"event": 256 << 10,
	// a part of a rejected event's reason is as long as the whole
	"reason": 512,
}

// checkFields refuses a field that is given empty, as by an unset variable of a script: the request would be about more
// than was meant. It refuses long strings, too, before any is noted, stored or answered.
func checkFields(payload []byte) error {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(payload, &fields); err != nil {
		return refuseJSON(err, payload)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		given := fields[name]
		if text := string(given); text == `""` || text == "null" {
			return Invalid(name, "is empty: leave it out")
		}
		most := maxText
		if own, ok := longer[name]; ok {
			most = own
		}
		if longest(given) > most {
			return Invalid(name, fmt.Sprintf("must be at most %d characters", most))
		}
	}
	return nil
}

// longest is the length of the longest string in a sound value, names included, in characters. It reads tokens and not
// values, so that long lists cost no memory.
func longest(v jsontext.Value) (most int) {
	tokens := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := tokens.ReadToken()
		if err != nil { // its end
			return most
		}
		if token.Kind() == '"' {
			most = max(most, utf8.RuneCountInString(token.String()))
		}
	}
}

// short cuts a name that no field has. It may be as long as the request, and the answer names it.
func short(name string) string {
	if utf8.RuneCountInString(name) <= maxText {
		return name
	}
	return string([]rune(name)[:maxText])
}
