package movein

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A report can be compared with that of an earlier conversion.
func TestEndpoints_reportsInTheSameOrderEachTime(t *testing.T) {
	const file = `{"tenant_id":"a","config":{"x":1},"credentials":{"y":1},"z":1}`
	_, first := convert(t, file, rules(Outpost))
	for range 50 {
		_, report := convert(t, file, rules(Outpost))
		if diff := cmp.Diff(first, report); diff != "" {
			t.Fatalf("another report (-first +got):\n%s", diff)
		}
	}
}

func TestEndpoints_keepsTheBoundsOfATenant(t *testing.T) {
	var file strings.Builder
	add := func(n int, tenant, url, more string) {
		for k := range n {
			u := strings.ReplaceAll(url, "%d", fmt.Sprint(k))
			fmt.Fprintf(&file, `{"tenant_id":%q,"url":%q%s}`+"\n", tenant, u, more)
		}
	}
	add(3, "acme", "https://same.example.com/%d", "") // without a secret: they take no place
	add(22, "acme", "https://same.example.com/%d", ","+secret)
	add(1, "acme", "https://SAME.example.com:443/7", ","+secret)
	add(32, "acme", "https://r%d.example/", ","+secret)
	add(21, "umbrella", "https://same.example.com/%d", ","+secret)
	lines, report := convert(t, file.String(), rules(Svix))
	if len(lines) != 50+20 {
		t.Errorf("%d lines", len(lines))
	}
	got := map[string]int{}
	for _, o := range report.Objects {
		for _, n := range o.Notes {
			if n.Reason {
				got[n.Field+" "+n.Message]++
			}
		}
	}
	want := map[string]int{
		"secret is missing: without it the receiver could verify nothing":         3,
		"url the tenant has more than 20 endpoints at the domain: see --per-host": 3,
		"url the tenant has it in object 11, too":                                 1,
		"tenant_id has more than 50 endpoints: see --per-tenant":                  2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	r := rules(Svix)
	r.Bounds.AtSite = 50
	if lines, _ := convert(t, file.String(), r); len(lines) != 50+21 {
		t.Errorf("%d lines where a domain may have 50", len(lines))
	}
}
