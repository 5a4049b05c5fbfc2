package cataloguefile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Tables are the types of a catalogue that lies over the specification's.
type Tables struct {
	Specified []catalogue.Type // the specification's that are left
	Own       []catalogue.Type // the adopter's, in the order of the file
	Wildcards []string         // of the adopter's objects
	Notes     []string         // what the adopter has decided about the specification's types, a line each
}

// Types are all types of the tables.
func (t Tables) Types() []catalogue.Type { return slices.Concat(t.Specified, t.Own) }

// Specification is the specification's types alone.
func Specification() (Tables, error) {
	return Read("", []byte("openapi: 3.1.0\nwebhooks: {}\n"))
}

// Read reads the text of an adopter's catalogue, and puts it over the specification's types. A type that both have is
// the adopter's. The error names all lines at fault, below the file's path.
func Read(path string, text []byte) (Tables, error) {
	herald, err := read("catalogue.yaml", []byte(catalogue.Specification))
	if err != nil {
		return Tables{}, err
	}
	own, err := read(path, text)
	all, clash := merge(herald, own)
	return all, errors.Join(err, clash)
}

func merge(herald, own list) (Tables, error) {
	m := merger{herald: herald.types, own: own}
	m.names()
	m.patterns()
	all := Tables{Own: plain(own.types), Wildcards: namesOf(own.wildcards)}
	all.Specified, all.Notes = m.left()
	m.replacements(all.Types())
	if len(all.Types()) == 0 && len(own.leftOut) > 0 {
		m.fault(own.leftOut[0].line, "x-leave-out leaves no type: describe those that you publish")
	}
	return all, errors.Join(m.faults...)
}

// merger is a merge that goes on after a fault, so that all faults are told at once.
type merger struct {
	herald []entry
	own    list
	faults []error
}

func (m *merger) fault(line int, format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf("%s:%d: %s", m.own.path, line, fmt.Sprintf(format, args...)))
}

// names finds names below herald, which is for test deliveries, and names that differ from another in case only.
func (m *merger) names() {
	seen := map[string]entry{}
	for _, t := range m.herald {
		seen[strings.ToLower(t.Name)] = t
	}
	for _, t := range m.own.types {
		if object(strings.ToLower(t.Name)) == "herald" {
			m.fault(t.line, "%s: names below herald. are for Herald's test deliveries", t.Name)
		}
		if near := m.nearObject(t.Name); near != "" {
			m.fault(t.line, "%s: %s differs from %s in case only, and no wildcard of %s would select it: write %s.%s",
				t.Name, object(t.Name), near, near, near, strings.TrimPrefix(t.Name, object(t.Name)+"."))
		} else if other, twice := seen[strings.ToLower(t.Name)]; twice && other.Name != t.Name {
			m.fault(t.line, "%s differs from %s in case only", t.Name, other.Name)
		}
		seen[strings.ToLower(t.Name)] = t
	}
}

// nearObject is the specification's object from which that of a name differs in case only; "" if there is none.
func (m *merger) nearObject(name string) string {
	for _, t := range m.herald {
		if o := object(t.Name); o != object(name) && strings.EqualFold(o, object(name)) {
			return o
		}
	}
	return ""
}

// maxWildcards are as many as an endpoint may subscribe to one by one.
const maxWildcards = 50

var wildcardForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.\*$`)

// patterns checks the wildcards that the catalogue declares. Those of the specification's objects are closed.
func (m *merger) patterns() {
	if n := len(m.own.wildcards); n > maxWildcards {
		m.fault(m.own.wildcards[maxWildcards].line, "%d wildcards are more than the %d there can be", n, maxWildcards)
		return
	}
	seen := map[string]bool{}
	for _, w := range m.own.wildcards {
		below := func(t entry) bool { return object(t.Name) == object(w.name) }
		switch {
		case !wildcardForm.MatchString(w.name):
			m.fault(w.line, "%q must be the first name of types, a dot and a star, such as account.*", w.name)
		case seen[w.name]:
			m.fault(w.line, "%s is declared twice", w.name)
		case slices.ContainsFunc(m.herald, below) || m.nearObject(w.name) != "":
			m.fault(w.line, "%s: wildcards of the specification's objects cannot be declared", w.name)
		case !slices.ContainsFunc(m.own.types, below):
			m.fault(w.line, "%s selects none of the types of this file", w.name)
		}
		seen[w.name] = true
	}
}

// left are the specification's types that the catalogue neither leaves out nor describes itself, and notes on the rest.
func (m *merger) left() (types []catalogue.Type, notes []string) {
	for _, t := range m.herald {
		own := slices.ContainsFunc(m.own.types, func(o entry) bool { return o.Name == t.Name })
		out := slices.IndexFunc(m.own.leftOut, func(o mark) bool { return selects(o.name, t.Name) })
		named := slices.IndexFunc(m.own.leftOut, func(o mark) bool { return o.name == t.Name })
		switch {
		case own && named >= 0:
			m.fault(m.own.leftOut[named].line, "%s is left out and described", t.Name)
		case own:
			notes = append(notes, t.Name+" has the shape of your catalogue: its data is checked as SchemaCheck says, "+
				"by default not at all")
		case out >= 0:
			notes = append(notes, t.Name+" is left out: events of this type are rejected")
		default:
			types = append(types, t.Type)
		}
	}
	for _, o := range m.own.leftOut {
		known := slices.ContainsFunc(m.herald, func(t entry) bool { return selects(o.name, t.Name) })
		if !known {
			m.fault(o.line, "x-leave-out: %q is no event of the specification: give names, such as user.banned, "+
				"an object's wildcard, such as user.*, or *", o.name)
		}
	}
	return types, notes
}

// replacements finds deprecated types whose successor does not exist, and those that replace each other.
func (m *merger) replacements(all []catalogue.Type) {
	successors := map[string]string{}
	for _, t := range m.own.types {
		successors[t.Name] = t.ReplacedBy
	}
	for _, t := range m.own.types {
		if t.ReplacedBy != "" && (t.ReplacedBy == t.Name || !contains(all, t.ReplacedBy)) {
			m.fault(t.line, "%s is replaced by %q, which is no other type of the catalogue", t.Name, t.ReplacedBy)
			continue
		}
		last := t.ReplacedBy
		for steps := 0; last != "" && last != t.Name && steps < len(successors); steps++ {
			last = successors[last]
		}
		if last == t.Name {
			m.fault(t.line, "%s replaces itself, by way of %s: name a type that is not deprecated", t.Name, t.ReplacedBy)
		}
	}
}

// selects reports whether a name or a wildcard of one object, or of all, selects a type.
func selects(pattern, name string) bool {
	prefix, wildcard := strings.CutSuffix(pattern, "*")
	return pattern == name || pattern == "*" || wildcard && prefix == object(name)+"."
}

// object is a name up to its first dot.
func object(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}

func namesOf(marks []mark) (names []string) {
	for _, m := range marks {
		names = append(names, m.name)
	}
	return names
}

// plain are types without their places.
func plain(entries []entry) (types []catalogue.Type) {
	for _, e := range entries {
		types = append(types, e.Type)
	}
	return types
}
