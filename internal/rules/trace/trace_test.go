package trace

import (
	"regexp"
	"strings"
	"testing"
)

const (
	w3cID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent = "00f067aa0ba902b7"
)

// known is the trace of the examples in W3C Trace Context.
var known = Context{
	ID: ID{
		0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36,
	},
	Parent: SpanID{0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}, Sampled: true,
}

func unsampled() Context { return Context{ID: known.ID, Parent: known.Parent} }

// The rows are those of the W3C's own test suite for traceparent, and headers that libraries and proxies send.
func TestParseTraceparent(t *testing.T) {
	const valid = "00-" + w3cID + "-" + parent + "-01"
	for name, row := range map[string]struct {
		text string
		want Context
	}{
		"the recommendation's example":         {valid, known},
		"not sampled":                          {"00-" + w3cID + "-" + parent + "-00", unsampled()},
		"sampled, of a random id (level 2)":    {"00-" + w3cID + "-" + parent + "-03", known},
		"a random id alone":                    {"00-" + w3cID + "-" + parent + "-02", unsampled()},
		"flags that no level knows":            {"00-" + w3cID + "-" + parent + "-ff", known},
		"a later version":                      {"cc-" + w3cID + "-" + parent + "-01", known},
		"a later version with more":            {"cc-" + w3cID + "-" + parent + "-01-what-comes", known},
		"a later version with a dash":          {"cc-" + w3cID + "-" + parent + "-01-", known},
		"a later version that runs on":         {"cc-" + w3cID + "-" + parent + "-01.what", Context{}},
		"version 00 with more":                 {valid + "-what-comes", Context{}},
		"version 00 with a dash":               {valid + "-", Context{}},
		"version ff":                           {"ff-" + w3cID + "-" + parent + "-01", Context{}},
		"version in upper case":                {"CC-" + w3cID + "-" + parent + "-01", Context{}},
		"version of one digit":                 {"0-" + w3cID + "-" + parent + "-01", Context{}},
		"version of a letter and a digit":      {"0x-" + w3cID + "-" + parent + "-01", Context{}},
		"a trace id of zeros":                  {"00-" + strings.Repeat("0", 32) + "-" + parent + "-01", Context{}},
		"a trace id in upper case":             {"00-" + strings.ToUpper(w3cID) + "-" + parent + "-01", Context{}},
		"a trace id that is cut off":           {"00-" + w3cID[:31] + "-" + parent + "-01", Context{}},
		"a trace id with a dash too early":     {"00-" + w3cID[:31] + "--" + parent + "-01", Context{}},
		"a trace id that is no hexadecimal":    {"00-." + w3cID[1:] + "-" + parent + "-01", Context{}},
		"a parent id of zeros":                 {"00-" + w3cID + "-0000000000000000-01", Context{}},
		"a parent id in upper case":            {"00-" + w3cID + "-00F067AA0BA902B7-01", Context{}},
		"a parent id that is no hexadecimal":   {"00-" + w3cID + "-00f067aa0ba902bg-01", Context{}},
		"flags of one digit":                   {"00-" + w3cID + "-" + parent + "-1", Context{}},
		"flags in upper case":                  {"00-" + w3cID + "-" + parent + "-0A", Context{}},
		"underscores in place of dashes":       {strings.ReplaceAll(valid, "-", "_"), Context{}},
		"a space before":                       {" " + valid, Context{}},
		"a space behind":                       {valid + " ", Context{}},
		"a line end behind":                    {valid + "\n", Context{}},
		"two of them":                          {valid + "," + valid, Context{}},
		"X-Ray's header":                       {known.XRay(), Context{}},
		"nothing":                              {"", Context{}},
		"dashes":                               {strings.Repeat("-", 55), Context{}},
		"no UTF-8":                             {"00-" + w3cID[:31] + "\xff-" + parent + "-01", Context{}},
		"a letter that looks like one":         {"00-" + w3cID[:30] + "а-" + parent + "-01", Context{}}, // Cyrillic
		"as much as SQS takes":                 {valid + strings.Repeat("0", 1<<20), Context{}},
		"a later version, as much as it takes": {"01" + valid[2:] + "-" + strings.Repeat("\xff", 1<<20), known},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParseTraceparent(row.text); got != row.want {
				t.Errorf("%.80q is %+v, want %+v", row.text, got, row.want)
			}
		})
	}
}

func TestParseXRay(t *testing.T) {
	const root = "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736"
	for name, row := range map[string]struct {
		text string
		want Context
	}{
		"as the SDK of X-Ray writes it":   {root + ";Parent=" + parent + ";Sampled=1", known},
		"not sampled":                     {root + ";Parent=" + parent + ";Sampled=0", unsampled()},
		"in another order":                {"Sampled=1;Parent=" + parent + ";" + root, known},
		"with spaces":                     {root + "; Parent=" + parent + "; Sampled=1", known},
		"with Lambda's lineage":           {root + ";Parent=" + parent + ";Sampled=1;Lineage=1:a87bd80c:0|68fd508a:5", known},
		"as a load balancer writes it":    {"Self=1-67891234-12456789abcdef012345678;" + root, Context{ID: known.ID}},
		"with a publisher's own field":    {root + ";CalledFrom=app;Parent=" + parent + ";Sampled=1", known},
		"without a decision":              {root + ";Parent=" + parent, unsampled()},
		"that asks for a decision":        {root + ";Parent=" + parent + ";Sampled=?", unsampled()},
		"without a parent":                {root + ";Sampled=1", Context{ID: known.ID, Sampled: true}},
		"with a semicolon at its end":     {root + ";Parent=" + parent + ";Sampled=1;", known},
		"without a root":                  {"Parent=" + parent + ";Sampled=1", Context{}},
		"with a root of another version":  {"Root=2-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=1", Context{}},
		"with a root of zeros":            {"Root=1-00000000-000000000000000000000000;Sampled=1", Context{}},
		"with a root that is cut off":     {"Root=1-4bf92f35-77b34da6a3ce929d0e0e473;Sampled=1", Context{}},
		"with a root in upper case":       {"Root=1-4BF92F35-77B34DA6A3CE929D0E0E4736;Sampled=1", Context{}},
		"with a root as W3C has it":       {"Root=" + w3cID + ";Sampled=1", Context{}},
		"with an empty parent":            {root + ";Parent=;Sampled=1", Context{ID: known.ID, Sampled: true}},
		"with an empty parent at the end": {"Sampled=1;" + root + "; Parent= ", Context{ID: known.ID, Sampled: true}},
		"with a parent that is none":      {root + ";Parent=what;Sampled=1", Context{}},
		"with names in lower case":        {"root=1-4bf92f35-77b34da6a3ce929d0e0e4736;sampled=1", Context{}},
		"nothing":                         {"", Context{}},
		"semicolons":                      {strings.Repeat(";", 256), Context{}},
		"a traceparent":                   {"00-" + w3cID + "-" + parent + "-01", Context{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParseXRay(row.text); got != row.want {
				t.Errorf("%.80q is %+v, want %+v", row.text, got, row.want)
			}
		})
	}
}

func TestOf_takesTraceparentBeforeXRay(t *testing.T) {
	traceparent, xray := "00-"+w3cID+"-"+parent+"-00", known.XRay()
	other := strings.Replace(xray, "4bf92f35", "5bf92f35", 1)
	for name, row := range map[string]struct {
		traceparent, xray string
		want              Context
	}{
		"neither":                             {"", "", Context{}},
		"traceparent":                         {traceparent, "", unsampled()},
		"X-Ray":                               {"", xray, known},
		"both":                                {traceparent, other, unsampled()},
		"a malformed traceparent and X-Ray":   {traceparent[1:], xray, known},
		"a traceparent and a malformed X-Ray": {traceparent, xray[1:], unsampled()},
		"two that are malformed":              {traceparent[1:], xray[1:], Context{}},
	} {
		if got := Of(row.traceparent, row.xray); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

func TestContext_writesNothingWithoutATrace(t *testing.T) {
	none := Context{Parent: known.Parent, Sampled: true}
	if got := none.TraceID() + none.XRay() + none.Traceparent(known.Parent); got != "" {
		t.Errorf("wrote %q", got)
	}
}

// The two forms in which a context is written, as X-Ray and the recommendation describe them.
var (
	xrayForm = regexp.MustCompile(`^Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;Parent=[0-9a-f]{16})?;Sampled=[01]$`)
	w3cForm  = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)
)

// Whatever a publisher sends: the context read from it is written in the two forms only, reads back as it was, and is
// the same for any text with the same meaning.
//
// Threat of a publisher: writes into logs or headers by a `traceparent`. Held by: hexadecimal that was parsed goes on;
// all else is no trace.
func FuzzOf(f *testing.F) {
	f.Add("00-"+w3cID+"-"+parent+"-01", known.XRay())
	f.Add("cc-"+w3cID+"-"+parent+"-01-\r\nx: y", "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736")
	f.Add("\xff", ";Sampled=1;Root=\n")
	f.Fuzz(func(t *testing.T, traceparent, xray string) {
		c := Of(traceparent, xray)
		if c.IsZero() {
			if c != (Context{}) {
				t.Fatalf("no trace has %+v", c)
			}
			return
		}
		if got := ParseXRay(c.XRay()); got != c || !xrayForm.MatchString(c.XRay()) {
			t.Errorf("%q is %+v, was %+v", c.XRay(), got, c)
		}
		below := c
		below.Parent = known.Parent
		text := c.Traceparent(known.Parent)
		if got := ParseTraceparent(text); got != below || !w3cForm.MatchString(text) {
			t.Errorf("%q is %+v, was %+v", text, got, below)
		}
		if id := c.TraceID(); !strings.Contains(traceparent, id) && !strings.Contains(xray, id[:8]+"-"+id[8:]) {
			t.Errorf("%s was not sent", id)
		}
	})
}
