package cost

import (
	"flag"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

var writeCeilings = flag.Bool("ceilings", false, "write the ceilings into their page")

const (
	ceilingsPage  = "../../docs/ceilings.md"
	ceilingsBegin = "<!-- go test ./infra/proofs/cost -run TestCeilings -ceilings writes from here -->\n"
	ceilingsEnd   = "<!-- to here -->\n"
)

// defaults are the numbers of the template.
func defaults(t *testing.T) parameters {
	t.Helper()
	return func(name string) float64 {
		n, err := strconv.ParseFloat(functions.Value(t, functions.Options{}, name), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// The page has the arithmetic's figures. With -ceilings, it is written.
func TestCeilings_areThoseOfThePage(t *testing.T) {
	content, err := os.ReadFile(ceilingsPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	head, rest, began := strings.Cut(text, ceilingsBegin)
	_, tail, ended := strings.Cut(rest, ceilingsEnd)
	figures := ceilingsText(defaults(t))
	shown := head + ceilingsBegin + "\n" + figures + "\n" + ceilingsEnd + tail
	switch {
	case !began || !ended:
		t.Fatal("the page has no place for the figures")
	case *writeCeilings:
		if err := os.WriteFile(ceilingsPage, []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	case shown != text:
		t.Errorf("the page has other figures than these\n%s", figures)
	}
}

// Each ceiling has an alarm of the template, or a reason for none.
func TestCeilings_tellSomebodyOrSayWhyNot(t *testing.T) {
	template, err := cfn.Read("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := defaults(t)
	for _, all := range [][]ceiling{tenantCeilings(p), stackCeilings(p), chosen(p)} {
		for _, c := range all {
			if (len(c.alarms) == 0) == (c.silent == "") {
				t.Errorf("%s: alarms %v, or none since %q", c.name, c.alarms, c.silent)
			}
			for _, alarm := range c.alarms {
				if template.Resources[alarm].Type != "AWS::CloudWatch::Alarm" {
					t.Errorf("%s: there is no %s", c.name, alarm)
				}
			}
		}
	}
}

// The formulas, by hand.
func TestCeilings_formulas(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > want/1000 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("one endpoint in a batch", distinct(1, 10), 1)
	near("two endpoints in a batch of two", distinct(2, 2), 1.5)
	near("one endpoint, no batches", tenantEvents(1, 1), 3000.0/7)
	// 3 processes are needed and 5 there: no delay. With 105 needed, after 20 s: 20,000 came, 10 × (5 × 20 + 5 × 200)
	// were attempted.
	late, enough := rampDelay(30, 10, 1)
	near("a small rise", 1+late+enough, 1)
	late, enough = rampDelay(1050, 10, 1)
	near("a rise ends after", enough, 20)
	near("and is late by", late, (21_000.0-11_000)/1050)
	p := map[string]float64{"RetryBaseSeconds": 5, "RetryFactor": 4, "LongWaitSeconds": 150, "MaxRetries": 9}
	near("three waits", retryWaits(func(name string) float64 { return p[name] }), 1.2*(5+20+80))
}

// The defaults alone reach none of AWS's quotas.
func TestCeilings_defaultsAreBelowThem(t *testing.T) {
	p := defaults(t)
	if n := 3*p("DeliverMaximumConcurrency") + 2*p("MaximumConcurrency"); n > mostConcurrent {
		t.Errorf("%v executions", n)
	}
	if n := p("DeliverMaximumConcurrency") * p("BatchSize"); n > mostInFlight {
		t.Errorf("%v messages in flight", n)
	}
}
