package movein

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// The bounds of a catalogue (infra/install/catalogue).
const (
	maxTypes    = 200
	maxName     = 64
	maxSummary  = 200 // characters
	maxSchema   = 64 << 10
	maxSchemas  = 256 << 10
	largest     = 256 << 10 // of an event
	longestTime = time.Minute
)

// eventType is a type as a catalogue has it.
type eventType struct {
	name, summary   string
	schema, example jsontext.Value
}

// Types converts the event types of a file to a catalogue, in their order. The catalogue is nil where there is none.
func Types(content []byte) (catalogue []byte, report Report, err error) {
	records, more, err := read(content)
	if err != nil {
		return nil, report, err
	}
	report.More = more
	var types []eventType
	seen, size := map[string]bool{}, 0
	for _, r := range records {
		t := r.eventType()
		key := strings.ToLower(t.name)
		switch {
		case r.out:
		case seen[key]:
			r.refuse("name", "is another's, or differs in case only")
		case len(types) == maxTypes:
			r.refuse("name", fmt.Sprintf("a catalogue has at most %d types", maxTypes))
		}
		size += len(t.schema)
		if !r.out && size > maxSchemas {
			r.note("schema", fmt.Sprintf("is left out: all schemas have at most %d bytes together", maxSchemas))
			size, t.schema = size-len(t.schema), anyObject
		}
		report.add(Object{Number: r.number, ID: t.name, LeftOut: r.out, Notes: r.notes})
		if !r.out {
			seen[key], types = true, append(types, t)
		}
	}
	if len(types) == 0 {
		return nil, report, nil
	}
	return write(types), report, nil
}

// anyObject takes all data.
var anyObject = jsontext.Value(`{"type":"object"}`)

// eventType reads a name alone, or an object that has one.
func (r *record) eventType() eventType {
	t := eventType{name: r.scalar}
	if t.name == "" {
		t.name = r.text("name", "topic", "type", "id")
	}
	r.checkName(t.name)
	if r.flag("archived") {
		r.refuse("archived", "it is not published any more")
	}
	t.summary = r.summary(t.name)
	if r.out {
		return t
	}
	given := r.newestSchema()
	compiled, text := r.dataSchema(given)
	t.schema, t.example = text, r.example(compiled, text, given)
	r.ignore("uid", "id", "createdAt", "updatedAt", "created_at", "updated_at")
	r.lose(map[string]string{
		"deprecated":    "a catalogue has no such mark: leave the type out if nothing publishes it",
		"deprecated_at": "a catalogue has no such mark: leave the type out if nothing publishes it",
		"featureFlag":   "Herald shows all types to all", "featureFlags": "Herald shows all types to all",
		"groupName": "a catalogue has no groups", "category": "a catalogue has no groups",
	})
	r.rest()
	return t
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

// checkName refuses a name that no catalogue of an adopter may have.
func (r *record) checkName(name string) {
	object, _, _ := strings.Cut(name, ".")
	switch {
	case name == "":
		r.refuse("name", "is missing")
	case event.Known(name) && reservedObject(object):
		r.refuse("name", "is one of the specification's: Herald has it already")
	case len(name) > maxName || !nameForm.MatchString(name):
		r.refuse("name", fmt.Sprintf("must be object.action, of A-Z a-z 0-9 _ - and dots, with up to %d characters", maxName))
	case reservedObject(object):
		r.refuse("name", "names below "+object+". are Herald's")
	}
}

// reservedObject reports whether the names below an object are Herald's.
func reservedObject(object string) bool {
	return slices.ContainsFunc([]string{
		"user", "organization", "organizationMembership", "organizationInvitation", "connection", "herald",
	}, func(own string) bool { return strings.EqualFold(own, object) })
}

// summary is the description on one line, or the name where there is none.
func (r *record) summary(name string) string {
	text := r.text("description", "title")
	between := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }
	line := strings.Join(strings.FieldsFunc(text, between), " ")
	if runes := []rune(line); len(runes) > maxSummary {
		r.note("description", fmt.Sprintf("is cut at %d characters", maxSummary))
		line = string(runes[:maxSummary])
	}
	return cmp.Or(line, name)
}

// dataSchema is the schema of the type's data, any object where there is none that Herald can check.
func (r *record) dataSchema(given jsontext.Value) (*schema.Schema, jsontext.Value) {
	if empty(given) {
		return nil, anyObject
	}
	text, dropped, err := modern(given)
	if err == nil {
		text = r.ofData(text)
	}
	compiled, failed := schema.Compile(string(text))
	switch {
	case err != nil:
	case failed != nil:
		err = failed
	case len(text) > maxSchema:
		err = fmt.Errorf("more than %d bytes", maxSchema)
	default:
		if most, at := compiled.Worst(largest); most > schema.In(longestTime) {
			err = fmt.Errorf("checking %s may take over a minute; bound the data by maxLength or maxItems", at)
		}
	}
	if err != nil {
		r.note("schema", "is left out, so that all data passes: "+shortened(err.Error()))
		return nil, anyObject
	}
	for _, what := range dropped {
		r.note("schema", what)
	}
	return compiled, text
}

// newestSchema is the schema of the field that has it, or the newest of its versions.
func (r *record) newestSchema() (found jsontext.Value) {
	for _, name := range []string{"schema", "json_schema", "jsonSchema", "schemas"} {
		if v := r.value(name); !empty(v) && found == nil {
			found = v
		}
	}
	var versions map[string]jsontext.Value
	if found.Kind() != '{' || json.Unmarshal(found, &versions, lenient...) != nil {
		return found
	}
	newest, count := 0, 0
	for version, v := range versions {
		n, err := strconv.Atoi(version)
		if err != nil || n < 0 || v.Kind() != '{' {
			return found // the schema itself
		}
		count++
		if n >= newest {
			newest, found = n, v
		}
	}
	if count > 1 {
		r.note("schemas", fmt.Sprintf("of %d versions the newest is taken", count))
	}
	return found
}

// ofData is the schema of the data, where the given one is of a body with type and data.
func (r *record) ofData(text jsontext.Value) jsontext.Value {
	properties := get(text, "properties")
	data := get(properties, "data")
	if data.Kind() != '{' || get(properties, "type") == nil {
		return text
	}
	r.note("schema", "is of a body with type and data: that of data is taken")
	return data
}
