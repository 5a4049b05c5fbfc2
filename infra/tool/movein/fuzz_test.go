package movein

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// Whatever a file holds, a line keeps the form that import reads, and the report says little about it.
func FuzzEndpoints(f *testing.F) {
	for _, seed := range []string{
		`{"tenant_id":"a","url":"https://a.example.com","secret":"` + key + `","headers":{"X-A":"b"},"eventTypes":["*"]}`,
		`{"data":{"content":[{"endpoint_metadata":{"uid":1},"filter_config":[]}]}}`, `[[[]]]`,
		`{"data":{"data":{"data":[]}}}`,
		`{"type":"webhook","config":{"custom_headers":"{\"a\":1}"},"credentials":"x","topics":{}}`, `"` + "\xff" + `"`,
		`{"secrets":[{"value":1}],"authentication":{"api_key":{"header_name":"a","header_value":"b"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for from := range readers {
			lines, report, err := Endpoints(file, rules(from))
			if err != nil {
				continue
			}
			imports(t, lines)
			n := 0
			for text := range strings.Lines(string(lines)) {
				n++
				var l management.ImportedEndpoint
				err := json.Unmarshal([]byte(text), &l, json.RejectUnknownMembers(true))
				var secret string
				if err == nil {
					err = json.Unmarshal(l.Secret.Value, &secret)
				}
				if err != nil || len(text) > 64<<10 {
					t.Errorf("%s: %q: %v", from, text, err)
				}
				if len(secret) > 20 && strings.Contains(told(report), secret) {
					t.Errorf("%s: the report has a secret", from)
				}
			}
			if n != report.Taken {
				t.Errorf("%s: %d lines, %d converted", from, n, report.Taken)
			}
		}
	})
}
