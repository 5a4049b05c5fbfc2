package usage

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// Fields are what the flags of a line select or describe, and what its argument names. What a line does not say is
// zero. Each command makes its request of them.
type Fields struct {
	TenantID, EndpointID, EventID, TraceID, DeliveryID, MessageID, JobID, KeyID, EventType string

	File string // of the argument; no request has it

	Reason, Status, State, Host, Description, Outcome, Cursor string

	Since, Until, PublishedSince, PublishedUntil, Before time.Time

	// When is what happened at Since and Until: died or sent.
	When string

	Rate     int // deliveries a second
	PerHost  int // endpoints of a tenant at one domain
	ShowPath bool
	Scopes   []apikey.Scope
	Event    jsontext.Value
}

// flags are the fields that a flag sets as it is.
func (f *Fields) flags() map[string]*string {
	return map[string]*string{
		"tenant": &f.TenantID, "endpoint": &f.EndpointID, "event": &f.EventID, "trace": &f.TraceID,
		"reason": &f.Reason, "status": &f.Status,
		"state": &f.State, "host": &f.Host, "description": &f.Description, "outcome": &f.Outcome, "cursor": &f.Cursor,
	}
}

// argument is the field that a command's argument sets, by its name in the synopsis; nil where no field does.
func (f *Fields) argument(name string) *string {
	return map[string]*string{
		"ENDPOINT": &f.EndpointID, "TENANT": &f.TenantID, "WH-ID": &f.DeliveryID, "MESSAGE-ID": &f.MessageID,
		"JOB-ID": &f.JobID, "KEY-ID": &f.KeyID, "FILE": &f.File, "TYPE": &f.EventType,
	}[name]
}

// Selector selects dead letters or rejected events by the flags of a line.
func (f Fields) Selector() api.Selector {
	return api.Selector{
		TenantID: f.TenantID, EndpointID: f.EndpointID, EventID: f.EventID, Reason: f.Reason, Status: f.Status,
		Since: f.Since, Until: f.Until, PublishedSince: f.PublishedSince, PublishedUntil: f.PublishedUntil,
	}
}

// Times are the times that the flags of a line select by.
func (f Fields) Times() []Moment { return TimesOf(f.Selector(), f.When) }

// Target names an endpoint or a tenant, and has the reason of an act on it.
func (f Fields) Target() api.Target {
	return api.Target{EndpointID: f.EndpointID, TenantID: f.TenantID, Reason: f.Reason}
}

// Read reads the fields of a line: from the flags that select or describe, and from the argument if the command has
// one. object reads the JSON object of a file.
func Read(
	c *cli.Command, now time.Time, object func(path string) (jsontext.Value, error),
) (f Fields, err error) {
	for flag, field := range f.flags() {
		*field = c.String(flag)
	}
	if field := f.argument(c.ArgsUsage); field != nil {
		*field, err = Argument(c)
		if err != nil {
			return Fields{}, err
		}
	}
	selected, err := Given{
		TenantID: f.TenantID, EndpointID: f.EndpointID, Since: c.String("since"), Until: c.String("until"),
		PublishedSince: c.String("published-since"), PublishedUntil: c.String("published-until"),
	}.Selector(now)
	if err != nil {
		return Fields{}, hinted(c, err)
	}
	f.TenantID, f.EndpointID = selected.TenantID, selected.EndpointID
	f.Since, f.Until = selected.Since, selected.Until
	f.PublishedSince, f.PublishedUntil = selected.PublishedSince, selected.PublishedUntil
	f.When = Sent
	if hasFlag(c, Died+"-since") {
		f.When = Died
	}
	f.Before, err = exactly("before", c.String("before"), now)
	if err != nil {
		return Fields{}, err
	}
	f.Rate, f.ShowPath = c.Int("rate"), c.Bool("path")
	f.PerHost = c.Int("per-host")
	for _, scope := range c.StringSlice("scope") {
		f.Scopes = append(f.Scopes, apikey.Scope(scope))
	}
	if path := c.String("event-file"); path != "" {
		f.Event, err = object(path)
	}
	return f, err
}

// hasFlag reports whether a command has a flag of this name.
func hasFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// Argument is a command's one argument.
func Argument(c *cli.Command) (string, error) {
	if c.Args().Len() != 1 || c.Args().First() == "" {
		return "", exit.With(exit.Usage,
			"give one argument, %s; see %s --help", strings.Trim(c.ArgsUsage, "[]"), c.FullName())
	}
	return c.Args().First(), nil
}

// Place names an endpoint as an operator does: by its id, or by its tenant and its host or description.
func Place(c *cli.Command, given string) (tenant, name string, err error) {
	tenant, name, err = place(c.String("tenant"), given)
	return tenant, name, hinted(c, err)
}

// hinted adds where to read on to the fault of an argument, which has no flag that says so.
func hinted(c *cli.Command, err error) error {
	fault, is := errors.AsType[*Fault](err)
	if !is || fault.Field != "endpoint_id" {
		return err
	}
	return exit.With(exit.Usage, "%s; see %s --help", fault.Text, c.FullName())
}
