package endpoint

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/testkit/urls"
)

// Real hosts and URLs are accepted. Those that Herald cannot deliver to are refused.
func TestURLPolicy_Normalise_takesWhatRealPlatformsGiveOut(t *testing.T) {
	for _, row := range urls.Table(t) {
		got, err := policy.Normalise(row.URL)
		if got != row.Stored {
			t.Errorf("%s is stored as %q with error %v, want %q", row.URL, got, err, row.Stored)
		}
	}
}

// A stored URL means the same as the written one, piece by piece.
func TestURLPolicy_Normalise_escapesAndDecodesNothing(t *testing.T) {
	draw := urls.Draw("example.com")
	rapid.Check(t, func(t *rapid.T) {
		raw := draw.Draw(t, "url")
		stored, err := policy.Normalise(raw)
		path, query := pathAndQuery(raw)
		if _, broken := url.PathUnescape(path + query); (err != nil) != (broken != nil) {
			t.Fatalf("%q is stored as %q, %v", raw, stored, err)
		}
		if err == nil {
			checkMeaning(t, raw, stored)
		}
	})
}

// pathAndQuery returns the path and the query of a URL as they are written, the query with its question mark.
func pathAndQuery(text string) (path, query string) {
	_, text, _ = strings.Cut(text, "://")
	at := strings.IndexAny(text, "/?")
	if at < 0 {
		return "/", ""
	}
	path, query, asked := strings.Cut(text[at:], "?")
	if asked {
		query = "?" + query
	}
	if path == "" {
		path = "/"
	}
	return path, query
}

type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkMeaning fails if a decoded part of the stored URL differs from that of the given one, or if an escaped character
// is written in another way.
func checkMeaning(t reporter, raw, stored string) {
	t.Helper()
	givenPath, givenQuery := pathAndQuery(raw)
	path, query := pathAndQuery(stored)
	if diff := cmp.Diff(decoded(givenPath, "/"), decoded(path, "/")); diff != "" {
		t.Errorf("%q is stored as %q, with the segments (-want +got):\n%s", raw, stored, diff)
	}
	if diff := cmp.Diff(decoded(givenQuery, "?&=+"), decoded(query, "?&=+")); diff != "" {
		t.Errorf("%q is stored as %q, with the query (-want +got):\n%s", raw, stored, diff)
	}
	rest := escapes(path + query)
	for _, escape := range escapes(givenPath + givenQuery) {
		at := slices.Index(rest, escape)
		if at < 0 {
			t.Errorf("%q is stored as %q, without its %s", raw, stored, escape)
			return
		}
		rest = rest[at+1:]
	}
}

// decoded are the parts of a path or a query between separators, decoded, and the separators.
func decoded(text, separators string) (parts []string) {
	for text != "" {
		at := strings.IndexAny(text, separators)
		if at < 0 {
			at = len(text)
		}
		part, err := url.PathUnescape(text[:at])
		if err != nil {
			part = "no escape: " + text[:at]
		}
		parts = append(parts, part)
		if at < len(text) {
			parts, at = append(parts, text[at:at+1]), at+1
		}
		text = text[at:]
	}
	return parts
}

func escapes(text string) (found []string) {
	for n := range text {
		if text[n] == '%' && n+3 <= len(text) {
			found = append(found, text[n:n+3])
		}
	}
	return found
}
