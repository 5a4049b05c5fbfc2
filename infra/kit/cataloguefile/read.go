// Package cataloguefile reads catalogues of event types, which are OpenAPI 3.1 files, for generators and for herald.
//
// It promises to report all faults of a catalogue at once, with their lines, and to bound what a catalogue can cost its
// readers. It reads no file and writes none.
package cataloguefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// The limits keep an endpoint with 50 names within a few units of DynamoDB, and the answer with all types within
// one of the management API's longest.
const (
	MaxName        = 64
	MaxDescription = 200 // characters
	MaxTypes       = 200
	MaxSchemas     = 256 << 10

	maxFile     = 512 << 10
	maxJSON     = 64 << 10 // of one schema, its references replaced, or one example
	maxExamples = maxFile  // more only where aliases repeat one
	maxCheck    = time.Minute
)

// entry is an event type with its place in the file.
type entry struct {
	catalogue.Type

	line int
}

// list is a catalogue as its file has it.
type list struct {
	path      string
	types     []entry
	wildcards []mark // of the adopter's own objects
	leftOut   []mark // types of the specification, or wildcards of them
}

// mark is a name in a list of the file.
type mark struct {
	name string
	line int
}

// document is a catalogue that is being read.
type document struct {
	path   string
	root   *yaml.Node
	faults []error
}

func (d *document) fault(n *yaml.Node, format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf("%s:%d: %s", d.path, n.Line, fmt.Sprintf(format, args...)))
}

// read returns a catalogue, its types in the order of the file. The error names all lines at fault.
func read(path string, text []byte) (list, error) {
	if len(text) > maxFile {
		return list{}, fmt.Errorf("%s: a catalogue may have %d bytes", path, maxFile)
	}
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return list{}, fmt.Errorf("%s: %w", path, err) // has the line
	}
	if file.Kind == 0 {
		return list{}, fmt.Errorf("%s:1: the catalogue is empty", path)
	}
	d := &document{path: path, root: file.Content[0]}
	var whole any
	unmade := d.root.Decode(&whole)
	var twice *yaml.TypeError // keys that a mapping has twice, which the library notices when it makes maps
	if errors.As(unmade, &twice) {
		for _, fault := range twice.Errors {
			d.faults = append(d.faults, fmt.Errorf("%s:%s", path, strings.TrimPrefix(fault, "line ")))
		}
		return list{}, errors.Join(d.faults...)
	}
	d.strays(d.root, keyWildcards, keyLeaveOut)
	d.strays(get(d.root, "info"))
	all := list{path: path, types: d.types(), wildcards: d.marks(keyWildcards), leftOut: d.marks(keyLeaveOut)}
	if unmade != nil && len(d.faults) == 0 { // aliases that expand without end, say
		return list{}, fmt.Errorf("%s: %w", path, unmade)
	}
	return all, errors.Join(d.faults...)
}

// types reads the section webhooks.
func (d *document) types() (types []entry) {
	if version := get(d.root, "openapi"); version == nil || !strings.HasPrefix(version.Value, "3.1.") {
		d.fault(d.root, "openapi must be 3.1")
	}
	webhooks := get(d.root, "webhooks")
	if webhooks == nil || webhooks.Kind != yaml.MappingNode {
		d.fault(d.root, "webhooks is missing, or not a mapping from names to their operations")
		return nil
	}
	if n := len(webhooks.Content) / 2; n > MaxTypes {
		d.fault(webhooks, "%d types are more than the %d there can be", n, MaxTypes)
	}
	size := 0
	examples := 0
	for i := 0; i < len(webhooks.Content); i += 2 {
		name := webhooks.Content[i]
		t, ok := d.entry(name, webhooks.Content[i+1])
		size += len(t.Schema)
		if size > MaxSchemas {
			d.fault(name, "the schemas up to here have more than %d bytes together", MaxSchemas)
			return nil
		}
		examples += len(t.Example)
		if examples > maxExamples {
			d.fault(name, "the examples up to here have more than %d bytes together", maxExamples)
			return nil
		}
		if ok {
			types = append(types, t)
		}
	}
	return types
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

// ValidName reports whether a type may have this name.
func ValidName(name string) bool { return len(name) <= MaxName && nameForm.MatchString(name) }

// TooSlow reports whether checking the largest event against a schema may take over a minute, and by which of its
// keywords. Fanout stops a check much earlier.
func TooSlow(s *schema.Schema) (at string, slow bool) {
	most, at := s.Worst(event.MaxBody)
	return at, most > schema.In(maxCheck)
}

// entry reads one type; ok is false after a fault.
func (d *document) entry(name, item *yaml.Node) (entry, bool) {
	before := len(d.faults)
	t := entry{catalogue.Type{Name: name.Value}, name.Line}
	switch {
	case len(t.Name) > MaxName:
		d.fault(name, "a name may have %d characters, and this one has %d", MaxName, len(t.Name))
		return t, false
	case !ValidName(t.Name):
		d.fault(name, "%q must be object.action, of A-Z a-z 0-9 _ - and dots between", t.Name)
		return t, false
	}
	t.Description = d.description(name, item)
	t.Deprecated, t.ReplacedBy = d.deprecated(name, item)
	media := d.target(d.follow(name, item, "post", "requestBody", "content", "application/json"))
	if media == nil {
		return t, false
	}
	compiled := d.schema(name, media, &t)
	if example := d.example(name, media); example != nil {
		d.named(example, t.Name, "type")
		if data := d.follow(name, example, "data"); data != nil {
			readable := len(d.faults)
			t.Example = d.json(data, inData)
			if compiled == nil || len(d.faults) > readable {
				return t, false
			}
			if _, err := compiled.Check([]byte(t.Example), schema.NoLimit); err != nil {
				d.fault(data, "the example of %s: %v", t.Name, err)
			}
		}
	}
	return t, len(d.faults) == before
}

// schema reads the type's schema, nil after a fault.
func (d *document) schema(name, media *yaml.Node, t *entry) *schema.Schema {
	properties := d.follow(name, media, "schema", "properties")
	if properties == nil {
		return nil
	}
	d.named(properties, t.Name, "type", "const")
	data := d.follow(name, properties, "data")
	if data == nil {
		return nil
	}
	readable := len(d.faults)
	t.Schema = d.json(data, inSchema)
	compiled, err := schema.Compile(t.Schema)
	if err != nil {
		if len(d.faults) == readable {
			d.fault(data, "the schema of %s: %v", t.Name, err)
		}
		return nil
	}
	if at, slow := TooSlow(compiled); slow {
		d.fault(data, "the schema of %s: checking %s may take fanout over a minute; bound the data by maxLength or maxItems",
			t.Name, at)
	}
	return compiled
}

// description is the summary of the operation.
func (d *document) description(name, item *yaml.Node) string {
	summary := d.follow(name, item, "post", "summary")
	if summary == nil {
		return ""
	}
	text := summary.Value
	if summary.Kind != yaml.ScalarNode || text == "" || utf8.RuneCountInString(text) > MaxDescription ||
		strings.ContainsFunc(text, unicode.IsControl) {
		d.fault(summary, "the summary of %s must be a text of one line, with 1 to %d characters", name.Value, MaxDescription)
	}
	return text
}

// example returns the member example, or the first of the member examples.
func (d *document) example(name, media *yaml.Node) *yaml.Node {
	if one := get(media, "example"); one != nil {
		return one
	}
	several := d.follow(name, media, "examples")
	if several == nil {
		return nil
	}
	if several.Kind != yaml.MappingNode || len(several.Content) == 0 {
		d.fault(several, "%s has no example", name.Value)
		return nil
	}
	return d.follow(name, several.Content[1], "value")
}

// named finds a name that was copied with the rest of another type.
func (d *document) named(n *yaml.Node, name string, path ...string) {
	for _, key := range path {
		n = get(n, key)
		if n == nil {
			return
		}
	}
	if n.Value != name {
		d.fault(n, "this is %q, below %s", n.Value, name)
	}
}
