// Package movein reads the endpoints and the event types that the APIs of other senders answer, and writes them as
// Herald takes them: lines for `herald endpoints import`, and a catalogue.
//
// It promises that everything that has no place at Herald is in its report, that a field that it does not know is
// reported and never a fault, and that every line that it writes keeps the rules of the function webhooks. A report and
// an error never have a secret, a header's value, or more of a URL than its host. The package reads and writes no file.
package movein

import (
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Source is another sender, by the form of its API's answers.
type Source string

// The senders. Standard is any other that signs by Standard Webhooks.
const (
	Svix     Source = "svix"
	Convoy   Source = "convoy"
	Outpost  Source = "outpost"
	Standard Source = "standard"
)

// Rules are the choices of the operator, and the rules of the stack for URLs.
type Rules struct {
	From    Source
	Tenant  string    // the id of all endpoints' tenant; "" is that of each one's field
	Field   string    // the path of that field, such as metadata.org; "" is the usual one
	Tenants TenantMap // by the ids that the endpoints have; nil: those are the tenants' own
	URLs    endpoint.URLPolicy
	Bounds  endpoint.Bounds
}

// Note is a field of the other sender that has no place at Herald, or none in this form.
type Note struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Reason  bool   `json:"reason,omitzero"` // the object is left out for it
}

// Object is an endpoint or an event type of the other sender, and its end here.
type Object struct {
	Number   int    `json:"object"` // its place in the file, from 1
	ID       string `json:"id"`     // the other sender's; a type's name
	TenantID string `json:"tenant_id,omitzero"`
	Host     string `json:"host,omitzero"`
	Line     int    `json:"line,omitzero"` // of the file that is written
	LeftOut  bool   `json:"left_out"`
	Notes    []Note `json:"notes"`
}

// Report has the result for each object of a file.
type Report struct {
	Objects []Object `json:"objects"`
	Taken   int      `json:"converted"`
	More    bool     `json:"more"` // the last page says that the other sender has more
}

// add reports an object.
func (r *Report) add(o Object) {
	o.ID, o.TenantID = shortened(o.ID), shortened(o.TenantID)
	if !o.LeftOut {
		r.Taken++
	}
	r.Objects = append(r.Objects, o)
}

// Endpoints converts the endpoints of a file to JSON lines, in their order.
func Endpoints(content []byte, rules Rules) (lines []byte, report Report, err error) {
	records, more, err := read(content)
	if err != nil {
		return nil, report, err
	}
	report.More = more
	if rules.From == Convoy {
		records = joined(records)
	}
	path := strings.TrimPrefix(rules.Tenant, ".")
	named := func(r *record) bool {
		looked := record{fields: r.fields, seen: map[string]bool{}}
		return r.fields[path] != nil || looked.at(path) != ""
	}
	if at := slices.IndexFunc(records, named); at >= 0 && path != "" {
		return nil, report, fmt.Errorf("%s is a field of object %d: write --tenant-field %s for the tenant that it names",
			rules.Tenant, records[at].number, path)
	}
	s := newJudge(rules)
	for _, r := range records {
		p := readers[rules.From](r)
		line := s.line(r, &p)
		o := Object{Number: r.number, ID: p.id, TenantID: p.tenant, Host: p.host, LeftOut: r.out, Notes: r.notes}
		if !r.out {
			o.Line = report.Taken + 1
			lines = append(append(lines, line...), '\n')
		}
		report.add(o)
	}
	return lines, report, nil
}

// longest bounds a text of the other sender in a report, in characters.
const longest = 64

// shortened cuts a text for a report.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
