package usage

import (
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// The field of a request that a flag sets, and the one that a command's argument sets, by its name in the synopsis.
var (
	fieldOfFlag = map[string]string{
		"tenant": "tenant_id", "endpoint": "endpoint_id", "event": "event_id", "reason": "reason", "status": "status",
		"state": "state", "host": "host", "description": "description", "outcome": "outcome", "cursor": "cursor",
	}
	fieldOfArgument = map[string]string{
		"ENDPOINT": "endpoint_id", "TENANT": "tenant_id", "WH-ID": "delivery_id", "MESSAGE-ID": "message_id",
		"JOB-ID": "job_id", "KEY-ID": "key_id",
		"FILE": "file", // of herald import alone; no request has it
	}
)

// Fields returns the fields of a request: from the flags that select or describe, and from the argument if the command
// has one. object reads the JSON object of a file.
func Fields(
	c *cli.Command, now time.Time, object func(path string) (jsontext.Value, error),
) (answers.Row, error) {
	f, err := times(c, now)
	if err != nil {
		return nil, err
	}
	for flag, field := range fieldOfFlag {
		if v := c.String(flag); v != "" {
			f[field] = v
		}
	}
	if field := fieldOfArgument[c.ArgsUsage]; field != "" {
		f[field], err = Argument(c)
		if err != nil {
			return nil, err
		}
	}
	if name := answers.Text(f, "endpoint_id"); name != "" {
		named, err := Place(c, name)
		if err != nil {
			return nil, err
		}
		maps.Copy(f, named)
	}
	if rate := c.Int("rate"); rate != 0 {
		f["rate_limit"] = rate
	}
	if c.Bool("path") {
		f["show_path"] = true
	}
	if scopes := c.StringSlice("scope"); len(scopes) > 0 {
		f["scopes"] = scopes
	}
	if path := c.String("event-file"); path != "" {
		f["event"], err = object(path)
	}
	return f, err
}

// Argument is a command's one argument.
func Argument(c *cli.Command) (string, error) {
	if c.Args().Len() != 1 || c.Args().First() == "" {
		return "", exit.With(exit.Usage,
			"give one argument, %s; see %s --help", strings.Trim(c.ArgsUsage, "[]"), c.FullName())
	}
	return c.Args().First(), nil
}

// Place names an endpoint as an operator does: by its id, or by its tenant and its host or description. Without a
// name the tenant alone would be meant.
func Place(c *cli.Command, name string) (answers.Row, error) {
	tenant, given := c.String("tenant"), name
	if before, after, both := strings.Cut(name, "/"); both && (tenant == "" || tenant == before) {
		tenant, name = before, after
	}
	if name == "" {
		return nil, exit.With(exit.Usage, "%q names no endpoint; see %s --help", given, c.FullName())
	}
	f := answers.Row{"endpoint_id": name}
	if tenant != "" {
		f["tenant_id"] = tenant
	}
	return f, nil
}
