// Package urls has URLs as tenants write them: a table of hosts of real platforms, and a generator of paths and
// queries. Every part of Herald that reads or describes a URL is tested with them, so that all agree.
//
// It promises that the table's verdicts are those of infra/openapi.yaml and of the management API together. It decides
// about no URL itself.
package urls

import (
	_ "embed"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

//go:embed urls.txt
var table string

// Row is a URL of the table.
type Row struct {
	URL     string
	Stored  string // "" where it is refused
	Matches bool   // the pattern of Url in infra/openapi.yaml
}

// Table returns the rows.
func Table(t testing.TB) (rows []Row) {
	t.Helper()
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		row := Row{URL: words[1], Stored: words[len(words)-1]}
		switch words[0] {
		case "ordinary":
			row.Matches = true
		case "accepted":
		case "matching":
			row.Stored, row.Matches = "", true
		case "refused":
			row.Stored = ""
		default:
			t.Fatalf("no verdict: %s", line)
		}
		rows = append(rows, row)
	}
	return rows
}

// pieces are the parts of paths and queries: characters that stand for themselves, that have to be escaped and that
// must not be decoded, and forms that other programs clean up.
var pieces = []string{
	"a", "Z", "0", "-", ".", "_", "~", "!", "$", "'", "(", ")", "*", "+", ",", ";", ":", "@",
	"..", "hooks", "//", "/./", "/../",
	"ä", "é", "語", "😀", "{id}", "[0]", "|", "^", "`", "\"", "<", ">", "\u00a0", "\u202e",
	"%2F", "%2f", "%3B", "%40", "%26", "%3D", "%2C", "%3A", "%2B", "%25", "%20", "%00", "%2e", "%2E", "%3F",
	"%23", "%c3%a4", "%ff", "%7Bid%7D", "%41",
}

// broken begin no escape.
var broken = []string{"%", "%z", "%2", "%zz", "%%", "%ä"}

// Draw returns generated URLs at a host. Some of them hold an escape that is none.
func Draw(host string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		raw := "https://" + host
		if rapid.IntRange(0, 9).Draw(t, "with a path") > 0 {
			raw += "/" + text(t, "path", pieces, []string{"/", "&", "="})
		}
		if rapid.Bool().Draw(t, "with a query") {
			raw += "?" + text(t, "query", pieces, []string{"/", "&", "=", "?"})
		}
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 && strings.Count(raw, "/") > 2 {
			raw += rapid.SampledFrom(broken).Draw(t, "escape")
		}
		return raw
	})
}

func text(t *rapid.T, label string, from, more []string) string {
	piece := rapid.SampledFrom(append(append([]string{}, from...), more...))
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, label), "")
}
