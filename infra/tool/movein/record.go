package movein

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// record is an object of the file, and the notes about it.
type record struct {
	number int
	fields map[string]jsontext.Value
	scalar string // of a text in place of an object

	seen  map[string]bool // fields that were read, or say nothing about deliveries
	out   bool            // the object cannot be converted
	off   bool            // the endpoint is not certainly on
	notes []Note
}

// note reports a field.
func (r *record) note(field, message string) {
	r.notes = append(r.notes, Note{Field: shortened(field), Message: message})
}

// refuse reports a field without which the object cannot be converted.
func (r *record) refuse(field, message string) {
	r.out = true
	r.notes = append(r.notes, Note{Field: shortened(field), Message: message, Reason: true})
}

// value is a field's value, or nil if the field is missing or null.
func (r *record) value(name string) jsontext.Value {
	r.seen[name] = true
	if v := r.fields[name]; v.Kind() != 'n' {
		return v
	}
	return nil
}

// text is the first of some fields that has a text. Fields of another type are reported.
func (r *record) text(names ...string) (found string) {
	for _, name := range names {
		v := r.value(name)
		if v == nil || found != "" {
			continue
		}
		if v.Kind() != '"' || json.Unmarshal(v, &found, lenient...) != nil {
			r.note(name, "is no text")
		}
	}
	return found
}

// part is an object in a field, as a record with the same notes. Without one it has no fields.
func (r *record) part(name string) *record {
	p := &record{number: r.number, seen: map[string]bool{}}
	if v := r.value(name); v.Kind() == '{' && json.Unmarshal(v, &p.fields, lenient...) != nil {
		p.fields = nil
	}
	return p
}

// adopt takes over the notes about a part, below its name.
func (r *record) adopt(name string, p *record) {
	for _, n := range p.notes {
		n.Field = shortened(name + "." + n.Field)
		r.notes = append(r.notes, n)
	}
	r.out, r.off = r.out || p.out, r.off || p.off
}

// names are the first of some fields that is a list of texts, or one text. nil is no such field, or null.
func (r *record) names(fields ...string) (list []string) {
	for _, name := range fields {
		v := r.value(name)
		switch {
		case v == nil || list != nil:
			continue
		case v.Kind() == '"':
			list = []string{r.text(name)}
		case v.Kind() != '[' || json.Unmarshal(v, &list, lenient...) != nil:
			r.refuse(name, "is no list of names")
			list = []string{}
		}
	}
	return list
}

// secret is a field with the secret, or with the answer of an API that has it as key.
func (r *record) secret(names ...string) (found string) {
	for _, name := range names {
		if r.fields[name].Kind() == '{' {
			found = r.part(name).text("key", "secret", "value")
		} else {
			found = r.text(name)
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// headers are those of a field: an object of texts, or that object as the text of its JSON.
func (r *record) headers(name string) (list []endpoint.Header) {
	v := r.value(name)
	if v.Kind() == '"' {
		v = jsontext.Value(r.text(name))
	}
	var values map[string]jsontext.Value
	if len(v) > 0 && json.Unmarshal(v, &values, lenient...) != nil {
		r.note(name, "are no headers, so that none is converted")
	}
	for _, header := range slices.Sorted(maps.Keys(values)) {
		h := endpoint.Header{Name: header}
		if json.Unmarshal(values[header], &h.Value, lenient...) != nil {
			r.note(name+"."+header, "is no text, and left out")
			continue
		}
		list = append(list, h)
	}
	return list
}

// metadata are the texts of the object in the field metadata, nil where there are none.
func (r *record) metadata() map[string]string {
	const name = "metadata"
	v := r.value(name)
	if empty(v) {
		return nil
	}
	var values map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v, &values, lenient...) != nil {
		r.note(name, "is no object of texts, and left out")
		return nil
	}
	pairs := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text := ""
		if values[key].Kind() != '"' || json.Unmarshal(values[key], &text, lenient...) != nil {
			r.note(name+"."+key, "is no text, and left out")
			continue
		}
		pairs[key] = text
	}
	return pairs
}

// ignore marks fields that say nothing about deliveries.
func (r *record) ignore(names ...string) {
	for _, name := range names {
		r.seen[name] = true
	}
}

// lose reports fields that have no place here, each with its reason.
func (r *record) lose(reasons map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if v := r.value(name); !empty(v) {
			r.note(name, reasons[name])
		}
	}
}

// rest reports the fields that were not looked at. False and 0 say something: the sender may do without them.
func (r *record) rest() {
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if v := r.fields[name]; !r.seen[name] && (!empty(v) || v.Kind() == 'f' || v.Kind() == '0') {
			r.note(name, "is not known here, and left out")
		}
	}
	if len(r.notes) > maxNotes {
		more := Note{Field: "…", Message: fmt.Sprintf("there are %d more notes", len(r.notes)-maxNotes)}
		r.notes = append(r.notes[:maxNotes:maxNotes], more)
	}
}

// maxNotes bounds the notes about one object.
const maxNotes = 100

// empty reports whether a value says nothing: null, "", 0, false, [], {}.
func empty(v jsontext.Value) bool {
	text := strings.Join(strings.Fields(string(v)), "")
	return slices.Contains([]string{"", "null", `""`, "0", "false", "[]", "{}"}, text)
}
