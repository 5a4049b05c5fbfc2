package movein

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/infra/tool/movein/redraft"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// eventType is a type as a catalogue has it.
type eventType struct {
	name, summary   string
	schema, example jsontext.Value
	deprecated      bool
}

// conversion is a catalogue in the making, and what is left of the work that a file may cost.
type conversion struct {
	specified []string // the specification's names, whatever catalogue this program was built with
	types     []eventType
	seen      map[string]bool // names, in small letters
	size      int             // of the schemas, in bytes
	patterns  redraft.Budget
	checks    schema.Cost // of examples
}

func newConversion() (*conversion, error) {
	specification, err := cataloguefile.Specification()
	c := &conversion{
		seen: map[string]bool{}, patterns: redraft.Budget{Instructions: 4_000_000}, checks: schema.In(longestChecks),
	}
	for _, t := range specification.Types() {
		c.specified = append(c.specified, t.Name)
	}
	return c, err //nolint:wrapcheck // it names the file and the line
}

// Types converts the event types of a file to a catalogue, in their order. The catalogue is nil where there is none.
func Types(content []byte) (catalogue []byte, report Report, err error) {
	records, more, err := read(content)
	if err != nil {
		return nil, report, err
	}
	report.More = more
	c, err := newConversion()
	if err != nil {
		return nil, report, err
	}
	for _, r := range records {
		t := c.eventType(r)
		report.add(Object{Number: r.number, ID: t.name, LeftOut: r.out, Notes: r.notes})
		if !r.out {
			c.seen[strings.ToLower(t.name)], c.types = true, append(c.types, t)
		}
	}
	if len(c.types) == 0 {
		return nil, report, nil
	}
	catalogue, lines := write(c.types)
	c.warn(report, lines)
	return catalogue, report, nil
}

// anyObject takes all data.
var anyObject = jsontext.Value(`{"type":"object"}`)

// eventType reads a type, which is a name or an object with one. If the type is left out, its schema is not read.
func (c *conversion) eventType(r *record) eventType {
	t := eventType{name: r.scalar}
	if t.name == "" {
		t.name = r.text("name", "topic", "type", "id")
	}
	c.checkName(r, t.name)
	switch {
	case r.out:
	case c.seen[strings.ToLower(t.name)]:
		r.refuse("name", "is another's, or differs in case only")
	case len(c.types) == cataloguefile.MaxTypes:
		r.refuse("name", fmt.Sprintf("a catalogue has at most %d types", cataloguefile.MaxTypes))
	}
	if r.out {
		return t
	}
	t.summary = r.summary(t.name)
	given := r.newestSchema()
	compiled, text := c.dataSchema(r, given)
	t.schema, t.example = text, c.example(r, compiled, text, given)
	t.deprecated = r.deprecated()
	r.ignore("uid", "id", "createdAt", "updatedAt", "created_at", "updated_at")
	r.lose(map[string]string{
		"featureFlag": "Herald shows all types to all", "featureFlags": "Herald shows all types to all",
		"groupName": "a catalogue has no groups", "category": "a catalogue has no groups",
	})
	r.rest()
	return t
}

// deprecated reports whether the other sender has marked a type as not to be built on. An archived type may still be
// published, to endpoints that had it. What such a field says that is neither yes nor no counts as yes.
func (r *record) deprecated() (marked bool) {
	for _, name := range []string{"deprecated", "deprecated_at", "archived"} {
		v := r.value(name)
		if known, yes := answer(v); empty(v) || known && !yes {
			continue
		}
		marked = true
		if name == "archived" {
			r.note(name, "the type is kept as deprecated: leave it out if nothing publishes it")
		}
	}
	return marked
}

// summary is the description on one line, or the name where there is none.
func (r *record) summary(name string) string {
	text := r.text("description", "title")
	between := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }
	line := strings.Join(strings.FieldsFunc(text, between), " ")
	if runes := []rune(line); len(runes) > cataloguefile.MaxDescription {
		r.note("description", fmt.Sprintf("is cut at %d characters", cataloguefile.MaxDescription))
		line = string(runes[:cataloguefile.MaxDescription])
	}
	return cmp.Or(line, name)
}

// dataSchema is the schema of the type's data, any object where there is none that Herald can check.
func (c *conversion) dataSchema(r *record, given jsontext.Value) (*schema.Schema, jsontext.Value) {
	if given == nil {
		return nil, anyObject
	}
	text, notes, err := redraft.Schema(given, &c.patterns)
	if err == nil {
		text = r.ofData(text)
		err = c.fits(text)
	}
	var compiled *schema.Schema
	if err == nil {
		compiled, err = compile(text)
	}
	if err != nil {
		r.note("schema", "is left out, so that all data passes: "+shortened(err.Error()))
		return nil, anyObject
	}
	for _, what := range notes {
		r.note("schema", what)
	}
	c.size += len(text)
	return compiled, text
}

// fits holds a schema against the bounds of a catalogue.
func (c *conversion) fits(text jsontext.Value) error {
	switch {
	case len(text) > redraft.MaxBytes:
		return fmt.Errorf("more than %d bytes", redraft.MaxBytes)
	case c.size+len(text) > cataloguefile.MaxSchemas:
		return fmt.Errorf("all have at most %d bytes together", cataloguefile.MaxSchemas)
	}
	return nil
}

// compile compiles a schema. It refuses what the build of a catalogue refuses, a schema whose checks may take too long
// included.
func compile(text jsontext.Value) (*schema.Schema, error) {
	compiled, err := schema.Compile(string(text))
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the place
	}
	if at, slow := cataloguefile.TooSlow(compiled); slow {
		return nil, fmt.Errorf("checking %s may take over a minute; bound the data by maxLength or maxItems", at)
	}
	return compiled, nil
}

// newestSchema is the schema of the field that has it, or the newest of its versions. It is nil where there is none, or
// one that takes everything. false is a schema.
func (r *record) newestSchema() (found jsontext.Value) {
	for _, name := range []string{"schema", "json_schema", "jsonSchema", "schemas"} {
		if v := r.value(name); found == nil && (v.Kind() == 'f' || v.Kind() != 't' && !empty(v)) {
			found = v
		}
	}
	var versions map[string]jsontext.Value
	if found.Kind() != '{' || json.Unmarshal(found, &versions, lenient...) != nil {
		return found
	}
	newest, isSchema := newestOf(versions)
	if isSchema {
		return found
	}
	if len(versions) > 1 {
		r.note("schemas", fmt.Sprintf("of %d versions the newest is taken", len(versions)))
	}
	return newest
}

// newestOf is the schema with the highest number. Members with other names are those of a schema itself.
func newestOf(versions map[string]jsontext.Value) (newest jsontext.Value, isSchema bool) {
	highest := -1
	for version, v := range versions {
		n, err := strconv.Atoi(version)
		if err != nil || n < 0 || v.Kind() != '{' && v.Kind() != 'f' {
			return nil, true
		}
		if n > highest {
			highest, newest = n, v
		}
	}
	return newest, false
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
