package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"sync"

	"github.com/herald-webhooks/herald/infra/kit/plot"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/chart"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// drawing is the chart that was drawn last. It is kept so that to load its page again costs nothing.
type drawing struct {
	sync.Mutex

	busy bool // a query is under way
	id   string
	of   stack.Tailed
	span string
	stack.Outcomes
}

// charted is the page of a chart of attempts.
type charted struct {
	Button  parts.Button // that draws it
	Costs   string       // before
	Note    string
	Picture template.HTML
	Whose   string
	Cost    string // of the query that was made
	Meaning string
	List    *parts.Table
}

// The spans of a chart, the default first. A query reads all of it.
var chartSpans = []string{"hour", "day"}

// window is the window of an address, with its span.
func (s *Server) window(q url.Values) (name string, in span) {
	name = q.Get("span")
	if name != "day" {
		name = "hour"
	}
	in = spans[name]
	in.From = in.from(s.Now()).Truncate(in.Step).Add(in.Step)
	return name, in
}

// chartPage says what a chart would cost, and shows the one that was drawn. To look at it queries nothing.
func chartPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := followed(q)
	if err := of.Check(); err != nil {
		return nil, err
	}
	name, in := s.window(q)
	page := charted{Button: parts.Button{
		Label: "Draw " + whose(of) + " in the last " + name, Action: s.site.Base + "/chart/draw",
		Fields: append(fields(of), parts.Field{Name: "span", Value: name}),
	}}
	page.Costs = "The log is a file of this machine, which costs nothing to read."
	if s.LogCosts {
		bytes, err := s.Metrics.LogBytes(ctx, in.Window)
		page.Costs = "To draw it, a query reads all of that time's log: about " + bill(bytes)
		if err != nil {
			page.Costs = "How much a query reads is not known: " + err.Error()
		}
	}
	s.drawn.Lock()
	defer s.drawn.Unlock()
	switch id := q.Get("drawn"); {
	case id == "":
	case id != s.drawn.id:
		page.Note = "This chart is not kept any more, since another was drawn."
	default:
		s.draw(&page)
	}
	return page, nil
}

// bill says how much a query reads, and what AWS charges for it.
func bill(bytes float64) string {
	return fmt.Sprintf("%s, $%.4f at AWS's price of $%.3f for a gigabyte in us-east-1.", size(bytes),
		bytes/1e9*stack.QueryPrice, stack.QueryPrice)
}

// size is a number of bytes in words.
func size(bytes float64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", bytes/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB", bytes/1e6)
	}
	return fmt.Sprintf("%.0f KB", bytes/1e3)
}

// draw puts the chart that was drawn last on a page.
func (s *Server) draw(page *charted) {
	d := &s.drawn
	in := spans[d.span]
	c := chart.Chart{
		Title: "Attempts by outcome", Unit: "in " + parts.Coarse(d.Window.Step), Window: d.Window, Tick: in.tick,
		Clock: in.clock, Least: 1,
	}
	var some []delivery.Verdict
	for _, of := range []delivery.Verdict{
		delivery.VerdictAcknowledged, delivery.VerdictRetry, delivery.VerdictDead, delivery.VerdictDiscarded,
	} {
		if d.Total(of) > 0 {
			c.Lines = append(c.Lines, plot.Line{Label: string(of), Values: d.Counts[of]})
			some = append(some, of)
		}
	}
	page.Whose = fmt.Sprintf("Drawn: %s in the %s until %s", whose(d.of), d.span, s.site.At(d.Window.End()).Title)
	page.Meaning = d.Meaning()
	if s.LogCosts {
		page.Cost = "The query has read " + bill(d.Read)
	}
	if len(some) > 0 {
		page.Picture = c.SVG()
	}
	page.List = parts.NewTable(url.Values{}, some,
		parts.Text("outcome", "", "", func(of delivery.Verdict) any { return of }),
		parts.Amount("attempts", func(of delivery.Verdict) int { return int(d.Total(of) + .5) })).
		Or("No attempt in that time.")
}

// errDrawing refuses a second query.
var errDrawing = errors.New("a chart is being drawn already: wait until it is there")

// drawChart queries the log, and keeps what it says for the page.
func drawChart(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	of := followed(form)
	name, in := s.window(form)
	query := url.Values{"tenant_id": {of.TenantID}, "endpoint_id": {of.EndpointID}, "span": {name}}
	back = "/chart?" + query.Encode()
	if err := of.Check(); err != nil {
		return "", back, err
	}
	if of == (stack.Tailed{}) {
		return "", back, errors.New("choose a tenant or an endpoint: the traffic of all is on the page Traffic")
	}
	if !s.drawn.begin() {
		return "", back, errDrawing
	}
	outcomes, err := s.Log.Outcomes(ctx, of, in.Window)
	s.drawn.Lock()
	defer s.drawn.Unlock()
	s.drawn.busy = false
	if err != nil {
		return "", back, err
	}
	s.drawn.id, s.drawn.Outcomes = rand.Text(), outcomes
	s.drawn.of, s.drawn.span = of, name
	query.Set("drawn", s.drawn.id)
	return "", "/chart?" + query.Encode(), nil
}

// begin reports whether no other query is under way.
func (d *drawing) begin() bool {
	d.Lock()
	defer d.Unlock()
	free := !d.busy
	d.busy = true
	return free
}
