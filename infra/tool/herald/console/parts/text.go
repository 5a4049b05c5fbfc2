package parts

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Text is the value at a path of an answer, as people read it.
func Text(v any, path string) string { return answers.Shown(answers.At(v, path)) }

// Link is a path with a query of names and values; empty values are left out.
func Link(path string, pairs ...any) string {
	q := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		if v := pairs[n+1]; v != nil && v != "" && v != "–" {
			q.Set(fmt.Sprint(pairs[n]), answers.Shown(v))
		}
	}
	return path + "?" + q.Encode()
}

// Words makes a field's name readable.
func Words(name string) string { return strings.NewReplacer("_", " ", ".", ": ").Replace(name) }

// Pretty indents JSON, and leaves everything else as it is.
func Pretty(v any) string {
	written, ok := v.(string)
	if !ok {
		written = answers.Compact(v)
	}
	indented := jsontext.Value(written)
	if indented.Indent(jsontext.WithIndent("  ")) != nil {
		return written
	}
	return string(indented)
}

// share is the percentage of successes among the attempts of the last ten minutes.
func share(v any) string {
	tried := answers.Number(v, "attempts")
	if tried == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% of %.0f", 100*answers.Number(v, "successes")/tried, tried)
}
