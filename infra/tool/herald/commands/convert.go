package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/infra/tool/movein"
	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// convertCommand is the command endpoints convert.
func convertCommand(s setup) *cli.Command {
	c := command("convert FILE", "turn another sender's API answers into lines for endpoints import",
		func(_ context.Context, line *cli.Command) error {
			rules, err := rulesOf(line)
			if err == nil {
				rules.Tenants, err = s.tenantMap(line)
			}
			if err != nil {
				return err
			}
			return s.convert(line, "endpoints", func(content []byte) ([]byte, movein.Report, error) {
				return movein.Endpoints(content, rules)
			})
		},
		usage.Among("from", "the sender: svix, convoy, outpost, or standard for others with Standard Webhooks",
			string(movein.Svix), string(movein.Convoy), string(movein.Outpost), string(movein.Standard)),
		&cli.StringFlag{Name: "to", Value: "endpoints.jsonl", Usage: "a new file, which only you can read"},
		usage.Text("tenant", "the id of the tenant, if all endpoints are of one"),
		usage.Text("tenant-field", "the field that has each tenant's id, with dots between names: metadata.org"),
		usage.Text("tenant-map", "a file with the tenant's id for each of theirs: JSON lines with id, tenant_id, or CSV"),
		usage.Text("ports", "the stack's EgressAllowPorts: ports besides 443"),
		usage.Text("cidrs", "the stack's EgressAllowCidrs: addresses that are not public"),
		usage.Number("per-tenant", "the stack's MaxEndpoints", endpoint.MaxLive, 1, endpoint.MostLive),
		usage.Number("per-host", "the stack's MaxEndpointsPerHost", 20, 1, endpoint.MostLive),
	)
	c.Description = "FILE (- for standard input) is JSON: the answers one after the other, or one object a line, each\n" +
		"with its secret in the field secret. infra/docs/moving-in.md has the loop to fetch them.\n" +
		"Endpoints that Herald cannot have are left out. They are listed, like everything else that is lost.\n" +
		"The command asks neither AWS nor the other sender, and shows no secret."
	return c
}

// typesCommand is the command events convert.
func typesCommand(s setup) *cli.Command {
	c := command("convert FILE", "turn another sender's event types and JSON Schemas into a catalogue",
		func(_ context.Context, line *cli.Command) error { return s.convert(line, "event types", movein.Types) },
		&cli.StringFlag{Name: "to", Value: "catalogue.yaml", Usage: "a new file"},
	)
	c.Description = "FILE (- for standard input) is JSON: the event types of Svix or Convoy, or the topics of\n" +
		"Outpost, as their APIs return them. infra/docs/publishing.md says how to build Herald with the catalogue."
	return c
}

// tenantMap reads the file of the flag, nil where it is not given.
func (s setup) tenantMap(line *cli.Command) (movein.TenantMap, error) {
	path, tenant := line.String("tenant-map"), line.String("tenant")
	switch {
	case path == "":
		return nil, nil //nolint:nilnil // no map, and no fault
	case tenant != "":
		return nil, exit.With(exit.Usage, "--tenant %s names one tenant for all, and --tenant-map one for each: "+
			"give one of them", answers.Safe(tenant))
	case path == "-" && line.Args().First() == "-":
		return nil, exit.With(exit.Usage, "--tenant-map -: standard input has the endpoints")
	}
	content, err := s.terminal.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ids, err := movein.ReadTenantMap(content)
	if err != nil {
		return nil, exit.With(exit.Usage, "%s: %s", path, answers.Safe(err.Error()))
	}
	return ids, nil
}

// rulesOf are the rules that a line's flags set.
func rulesOf(line *cli.Command) (rules movein.Rules, err error) {
	if line.String("from") == "" {
		return rules, exit.With(exit.Usage, "--from is required: svix, convoy, outpost or standard")
	}
	tenant, field := line.String("tenant"), line.String("tenant-field")
	switch {
	case tenant != "" && field != "":
		return rules, exit.With(exit.Usage, "--tenant names one tenant for all, and --tenant-field each one's field: "+
			"give one of them")
	case tenant != "" && !event.ValidTenantID(tenant):
		return rules, exit.With(exit.Usage, "--tenant %s", event.TenantIDRule)
	}
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: line.String("cidrs"), AllowPorts: line.String("ports"),
	})
	if err != nil { // it names the parameters, as the stack has them
		return rules, exit.With(exit.Usage, "--ports or --cidrs: %v", err)
	}
	return movein.Rules{
		From: movein.Source(line.String("from")), Tenant: tenant, Field: field,
		Bounds: endpoint.Bounds{Live: line.Int("per-tenant"), AtSite: line.Int("per-host")},
		URLs:   endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port},
	}, nil
}

// converter converts the content of a file.
type converter func(content []byte) (made []byte, report movein.Report, err error)

// convert converts the file of a line, and reports.
func (s setup) convert(line *cli.Command, things string, by converter) error {
	on, to := s.screen(line), line.String("to")
	made, report, err := s.converted(line, things, by)
	if err != nil {
		return err
	}
	writes := report.Taken > 0 && !line.Bool("dry-run")
	if writes {
		if err := on.WriteNew(to, made); err != nil {
			return err
		}
	}
	printReport(on, report)
	left := len(report.Objects) - report.Taken
	on.Say("%d %s: %d converted, %d left out", len(report.Objects), things, report.Taken, left)
	if report.More {
		on.Say("note: the last page says that there are more: fetch them all")
	}
	if writes {
		on.Say("written to %s, which only you can read", to)
	}
	switch {
	case report.Taken == 0:
		return exit.With(exit.Failed, "nothing could be converted, so no file was written")
	case left > 0 || report.More:
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// converted is the result for the file of a line.
func (s setup) converted(line *cli.Command, things string, by converter) ([]byte, movein.Report, error) {
	path, err := usage.Argument(line)
	if err != nil {
		return nil, movein.Report{}, err
	}
	content, err := s.terminal.ReadFile(path)
	if err != nil {
		return nil, movein.Report{}, err
	}
	made, report, err := by(content)
	if err == nil && len(report.Objects) == 0 {
		err = exit.With(exit.Failed, "%s has no %s in it", path, things)
	} else if err != nil {
		err = exit.With(exit.Usage, "%s: %s", path, answers.Safe(err.Error()))
	}
	return made, report, err
}

// printReport prints the objects that were left out, one a line, and then everything else that is lost, a kind a line.
func printReport(on terminal.Screen, report movein.Report) {
	if on.JSON {
		on.PrintJSON(report)
		return
	}
	var out []leftOut
	var kinds []*lost
	kind := map[movein.Note]*lost{}
	for _, o := range report.Objects {
		var why []string
		for _, n := range o.Notes {
			switch {
			case n.Reason:
				why = append(why, strings.TrimPrefix(n.Field+": "+n.Message, ": "))
			case !o.LeftOut && kind[n] == nil:
				kind[n] = &lost{n, 1, strconv.Itoa(o.Number)}
				kinds = append(kinds, kind[n])
			case !o.LeftOut:
				kind[n].in++
				kind[n].objects = more(kind[n].objects, o.Number)
			}
		}
		if o.LeftOut {
			out = append(out, leftOut{o, strings.Join(why, "; ")})
		}
	}
	if len(out) > 0 {
		terminal.Table(on.Terminal, out, leftOutColumns)
	}
	if len(kinds) > 0 {
		terminal.Table(on.Terminal, kinds, lostColumns)
	}
}

// leftOut is an object that is not converted.
type leftOut struct {
	movein.Object

	why string
}

var leftOutColumns = []terminal.Column[leftOut]{
	{Head: "left out", Of: func(o leftOut) any { return o.Number }},
	{Head: "id", Of: func(o leftOut) any { return o.ID }},
	{Head: "tenant id", Of: func(o leftOut) any { return o.TenantID }},
	{Head: "host", Of: func(o leftOut) any { return o.Host }},
	{Head: "why", Of: func(o leftOut) any { return o.why }},
}

// lost is something of converted objects that Herald cannot have: in how many of them, and in which.
type lost struct {
	movein.Note

	in      int
	objects string
}

var lostColumns = []terminal.Column[*lost]{
	{Head: "lost or changed", Of: func(l *lost) any { return l.Field }},
	{Head: "in", Of: func(l *lost) any { return l.in }},
	{Head: "objects", Of: func(l *lost) any { return l.objects }},
	{Head: "why", Of: func(l *lost) any { return l.Message }},
}

// more adds a number to a list for a person, which has a few.
func more(list string, number int) string {
	const enough = 24
	if len(list) < enough {
		return fmt.Sprintf("%s, %d", list, number)
	}
	return strings.TrimSuffix(list, ", …") + ", …"
}
