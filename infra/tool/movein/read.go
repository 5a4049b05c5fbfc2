package movein

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/badjson"
)

// maxPages bounds how deep lists and answers stand in each other, and maxObjects how many objects they have: each takes
// more memory than its text.
const (
	maxPages   = 8
	maxObjects = 250_000
)

// lenient reads every form in use: APIs answer halves of surrogate pairs and names that come twice.
var lenient = []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}

// reading flattens answers to objects.
type reading struct {
	records []*record
	more    bool // of the last page
}

// read returns the objects of a file: of JSON values one after the other, each an object, a list, or an API's answer
// with a list in it. An error says where the file is no JSON, and quotes nothing.
func read(content []byte) (records []*record, more bool, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(content), lenient...)
	var all reading
	for {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(content[d.InputOffset():])) == 0 {
			return all.records, all.more, nil
		}
		if err != nil {
			at := min(int(badjson.Diagnose(err, content).Offset), len(content))
			return nil, false, fmt.Errorf("no JSON at byte %d, in line %d", at, 1+bytes.Count(content[:at], []byte("\n")))
		}
		if all.flatten(v.Clone(), 0); len(all.records) > maxObjects {
			return nil, false, fmt.Errorf("more than %d objects: split the file between tenants", maxObjects)
		}
	}
}

// flatten adds the objects of a value.
func (all *reading) flatten(v jsontext.Value, depth int) {
	var list []jsontext.Value
	var fields map[string]jsontext.Value
	switch {
	case len(all.records) > maxObjects:
		return
	case depth > maxPages:
	case v.Kind() == '[' && json.Unmarshal(v, &list, lenient...) == nil:
		for _, item := range list {
			all.flatten(item, depth+1)
		}
		return
	case v.Kind() == '{' && json.Unmarshal(v, &fields, lenient...) == nil:
		if page := listOf(fields); page != nil {
			all.more = saysMore(fields) // a page within it, or a later one, has the last word
			all.flatten(page, depth+1)
			return
		}
	}
	r := &record{number: len(all.records) + 1, fields: fields, seen: map[string]bool{}}
	if v.Kind() == '"' && json.Unmarshal(v, &r.scalar, lenient...) != nil {
		r.scalar = ""
	}
	all.records = append(all.records, r)
}

// listOf is the list in an API's answer. It is nil if the object is not such an answer but an endpoint.
func listOf(fields map[string]jsontext.Value) jsontext.Value {
	for _, own := range []string{"url", "config", "name", "endpoint_metadata", "secret"} {
		if fields[own] != nil {
			return nil
		}
	}
	for _, name := range []string{"data", "content", "models", "items", "results", "endpoints", "destinations"} {
		if v := fields[name]; v.Kind() == '[' || v.Kind() == '{' {
			return v
		}
	}
	return nil
}

// saysMore reports whether an answer is not the last page.
func saysMore(fields map[string]jsontext.Value) bool {
	var pagination map[string]jsontext.Value
	if fields["pagination"].Kind() == '{' && json.Unmarshal(fields["pagination"], &pagination, lenient...) != nil {
		return false
	}
	return string(fields["done"]) == "false" || string(pagination["has_next_page"]) == "true" ||
		pagination["next"].Kind() == '"'
}
