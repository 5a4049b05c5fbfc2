package movein

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// TenantMap has the ids of tenants at Herald by those at another sender.
type TenantMap map[string]string

// maxFaults bounds the faults of a map that are told at once.
const maxFaults = 20

// ReadTenantMap reads a map: an object with id and tenant_id on each line, or CSV with their id and the tenant's id,
// perhaps under a line "id,tenant_id". The error names the line of each fault.
func ReadTenantMap(content []byte) (TenantMap, error) {
	m := mapReader{ids: TenantMap{}, lines: map[string]int{}}
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		m.readLines(content)
	} else {
		m.readCSV(content)
	}
	if len(m.ids) == 0 && len(m.faults) == 0 {
		return nil, errors.New("has no tenant in it: write an object with id and tenant_id on each line, or " +
			"both with a comma")
	}
	if len(m.faults) > maxFaults {
		more := fmt.Sprintf("there are %d more faults", len(m.faults)-maxFaults)
		m.faults = append(m.faults[:maxFaults:maxFaults], more)
	}
	if len(m.faults) > 0 {
		return nil, errors.New(strings.Join(m.faults, "; "))
	}
	return m.ids, nil
}

// mapReader goes on after a fault, so that all are told at once.
type mapReader struct {
	ids    TenantMap
	lines  map[string]int // of their ids
	faults []string
}

func (m *mapReader) fault(line int, format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

// readLines reads JSON, an object on each line.
func (m *mapReader) readLines(content []byte) {
	for n, text := range bytes.Split(content, []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var row struct {
			ID       jsontext.Value `json:"id"`
			TenantID jsontext.Value `json:"tenant_id"`
		}
		if err := json.Unmarshal(text, &row, json.RejectUnknownMembers(true)); err != nil {
			m.fault(n+1, `is no object {"id":"…","tenant_id":"…"}`)
			continue
		}
		m.add(n+1, idOf(row.ID), idOf(row.TenantID))
	}
}

// idOf is a text or a number as text: some senders number their tenants.
func idOf(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return textOf(v)
}

// readCSV reads two fields on each line.
func (m *mapReader) readCSV(content []byte) {
	rows := csv.NewReader(bytes.NewReader(content))
	rows.FieldsPerRecord, rows.TrimLeadingSpace = -1, true
	for first := true; ; first = false {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if fault, is := errors.AsType[*csv.ParseError](err); is {
			m.fault(fault.Line, "is no CSV: %v", fault.Err)
			return // where the next line begins is not known
		}
		line, _ := rows.FieldPos(0)
		switch {
		case len(row) != 2:
			m.fault(line, "has %d fields, and not their id and the tenant's", len(row))
		case first && row[0] == "id" && row[1] == "tenant_id":
		default:
			m.add(line, row[0], strings.TrimSpace(row[1]))
		}
	}
}

func (m *mapReader) add(line int, id, tenant string) {
	before, twice := m.lines[id]
	switch {
	case id == "" || tenant == "":
		m.fault(line, "has no id, or no tenant_id")
	case !event.ValidTenantID(tenant):
		m.fault(line, "the tenant_id "+event.TenantIDRule) // without the value: a wrong column may hold a secret
	case twice && m.ids[id] != tenant:
		m.fault(line, "%s has another tenant on line %d", shortened(id), before)
	default:
		m.ids[id], m.lines[id] = tenant, line
	}
}
