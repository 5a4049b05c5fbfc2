package parts

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Link is a path with a query of names and values; empty values are left out.
func Link(path string, pairs ...string) string {
	q := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n+1] != "" {
			q.Set(pairs[n], pairs[n+1])
		}
	}
	return path + "?" + q.Encode()
}

// Words makes a field's name readable.
func Words(name string) string { return strings.NewReplacer("_", " ", ".", ": ").Replace(name) }

// Pretty indents JSON, and leaves everything else as it is.
func Pretty(text string) string {
	indented := jsontext.Value(text)
	if indented.Indent(jsontext.WithIndent("  ")) != nil {
		return text
	}
	return string(indented)
}

// share is the percentage of successes among the attempts of the last ten minutes.
func share(r *api.Recent) string {
	if r == nil || r.Attempts == 0 {
		return answers.Nothing
	}
	return fmt.Sprintf("%.0f %% of %d", 100*float64(r.Successes)/float64(r.Attempts), r.Attempts)
}
