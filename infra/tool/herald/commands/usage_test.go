package commands

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// inside are words of Go and of its library, which say nothing to an operator.
var inside = regexp.MustCompile(`strconv|parsing|parse error|syntax|duplicate|panic|flag -[a-z]|%!`)

// everyCommand calls do with each command that acts, and the words that lead to it.
func everyCommand(do func(c *cli.Command, words string)) {
	var each func(group *cli.Command, path string)
	each = func(group *cli.Command, path string) {
		for _, c := range group.Commands {
			words := strings.TrimSpace(path + " " + c.Name)
			if each(c, words); len(c.Commands) == 0 {
				do(c, words)
			}
		}
	}
	each(tree(setup{terminal: &terminal.Terminal{}}), "")
}

// misuse plays a command line that is wrong in itself: it is refused in plain words, before the stack is looked for.
func misuse(t *testing.T, line string, says ...string) {
	t.Helper()
	f := &fake{}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit()) // console serves
	defer cancel()
	var stdout, stderr bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader("y\n"), Out: &stdout, Err: &stderr, Now: clock}
	code := f.run(ctx, on, strings.Fields(line)...)
	out, words := stdout.String(), stderr.String()
	if code != exit.Usage || out != "" || f.sought {
		t.Errorf("herald %s: exit code %d, sought %t, output %q", line, code, f.sought, out)
	}
	if inside.MatchString(words) || !strings.HasPrefix(words, "herald: ") {
		t.Errorf("herald %s: %s", line, words)
	}
	contains(t, words, says...)
}

// The sweep asks the program for its commands and flags, so that it includes new ones.
func TestEveryFlagOfEveryCommandRefusesWrongUsage(t *testing.T) {
	swept := 0
	everyCommand(func(c *cli.Command, words string) {
		for _, flag := range append(tree(setup{terminal: &terminal.Terminal{}}).Flags, c.Flags...) {
			name := "--" + flag.Names()[0]
			line := words + " " + name
			switch flag.(type) {
			case *cli.BoolFlag:
				misuse(t, line+"=maybe", name+` is given without a value, and not "maybe"`)
			case *cli.IntFlag:
				for _, value := range []string{"abc", "1.5", "1e3", "1,000", "10k", "0x", "٣"} {
					misuse(t, line+"="+value, name, "not a whole number")
				}
				misuse(t, line+"=", name)
				misuse(t, line+"=99999999999999999999", name, "too large")
				misuse(t, line+"=-1", name, "must be")
				misuse(t, line+" 1 "+name+" 2", name+" is given twice")
			case *cli.StringFlag:
				misuse(t, line+"=", name)
				if name != "--output" {
					misuse(t, line+" json "+name+" json") // "json" is no value of others: the one or the other is wrong
				}
			}
			swept++
		}
		misuse(t, words+" --tenannt acme", "no such flag")
		if c.ArgsUsage == "" && words != "keys list" && words != "keys issue" { // --tenant is missing first
			misuse(t, words+" acme", `"acme": herald `+words+" takes flags only")
		}
	})
	if swept < 300 {
		t.Errorf("swept %d flags", swept)
	}
}

func TestCommandLines_thatAreWrongSayWhatWasMeant(t *testing.T) {
	t.Setenv("HERALD_STACK", "") // and back at its end
	if err := os.Unsetenv("HERALD_STACK"); err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{
		"ded list":                            `no such command of herald: did you mean dead?: "ded"`,
		"dead lst":                            "did you mean list?",
		"endpoint list":                       "did you mean endpoints?",
		"foo":                                 "no such command of herald: there are status, endpoints",
		"dead list --tennant acme":            "no such flag: did you mean --tenant?",
		"dead list --staus dead":              "did you mean --status",
		"dead list -x":                        "no such flag",
		"dead list --tenant acme http_5xx":    `"http_5xx": herald dead list takes flags only`,
		"jobs list running":                   "takes flags only",
		"endpoints list acme":                 "takes flags only",
		"deliveries find evt_1 --tenant acme": "takes flags only",
		"keys list":                           "--tenant is required",
		"console 8080":                        "takes flags only",
		"console --port 99999":                "--port: must be 0 to 65535",
		"console --port -1":                   "--port: must be 0 to 65535",
		"status --limit 101":                  "--limit: must be 1 to 100",
		"dead list --limit 0":                 "--limit: must be at least 1",
		"rejected list --limit -5":            "--limit: must be at least 1",
		"dead list --limit":                   "--limit needs a value",
		"status --output":                     "--output needs a value",
		"-o":                                  "-o needs a value",
		"-o yaml status":                      "no such output: there are table, json",
		"-o JSON status":                      "no such output: did you mean json?",
		"tail --outcome acknowledge":          "no such outcome: did you mean acknowledged?",
		"tail --outcome success":              "no such outcome: there are acknowledged, retry, dead, discarded",
		"tail acme":                           "takes flags only",
		"dead list --reason timeout --reason http": "--reason is given twice",
		"dead purge --tenant a --tenant b":         "--tenant is given twice",
		"dead list --since soon":                   `--since: "soon" is not a time; give 7d or 2h (ago)`,
		"dead list --since 7":                      "is not a time",
		"dead list --since 1y":                     "is not a time",
		"dead list --since 7d3":                    "is not a time",
		"dead list --since 0d":                     "is not a time",
		"dead list --since 999999w":                "is not a time",
		"dead list --since 2026-13-01":             "is not a time",
		"dead list --since 25:00":                  "is not a time",
		"dead list --since 2027-01-01":             "--since: 2027-01-01 is in the future",
		"dead replay --since 2d --until 7d":        "--until: 7d is not after since 2d",
		"endpoints discard a/b --before soon":      "is not a time",
		"--local --stack nosuch status":            "this machine, --stack nosuch to another",
		"status --stack nosuch --local":            "--stack nosuch to another",
		"--local --region eu-west-1 status":        "--region eu-west-1 to another",
		"--local --profile prod status":            "--profile prod to another",
		"events send user.created":                 "--tenant is required with a sample",
		"tenants pause a b":                        "give one argument, TENANT",
	} {
		t.Run(line, func(t *testing.T) {
			f := &fake{}
			code, _, words := f.play(t, "", strings.Fields(line)...)
			if code != exit.Usage || inside.MatchString(words) || len(f.requests) > 0 {
				t.Errorf("exit code %d, %d requests: %s", code, len(f.requests), words)
			}
			contains(t, words, says)
		})
	}
	misuse(t, "--local --stack nosuch status")
	t.Setenv("HERALD_STACK", "herald-prod") // names the usual stack, and --local another for once
	f := fakeOf(to(api.GetSummary, api.Summary{}), to(api.ListEndpoints, listOf[api.ListedEndpoint]()))
	f.ends(t, exit.Done, "--local status")
	f.ends(t, exit.Done, "--local --stack herald-local status")
}

// A name that nothing has is no empty list.
func TestLists_sayWhatDoesNotExist(t *testing.T) {
	none, nothing := emptyList, written(api.Survey{Complete: true})
	noEndpoint := refused(api.Refusal{
		Code: api.CodeNotFound, Field: "endpoint_id", Message: "none: did you mean crm?",
	})
	noReason := refused(api.Refusal{
		Code: api.CodeInvalidField, Field: "reason", Message: "no such reason: did you mean http_5xx?",
	})
	found, some := written(api.Endpoint{EndpointID: "webhook_1"}), written(listOf(api.ListedEndpoint{}))
	for _, c := range []struct {
		line  string
		code  int
		says  string
		later []string
	}{
		{"dead list --reason htp_5xx", exit.Usage, "no such reason: did you mean http_5xx?", []string{noReason}},
		{"dead replay --reason htp_5xx", exit.Usage, "no such reason: did you mean http_5xx?", []string{noReason}},
		{"dead list --endpoint acme/crmm", exit.Usage, "acme/crmm: endpoint_id: none: did", []string{noEndpoint}},
		{"-y dead purge --endpoint acme/crmm", exit.Usage, "--endpoint acme/crmm", []string{noEndpoint}},
		{"dead list --endpoint acme/webhook_9", exit.Usage, "--endpoint acme/webhook_9", []string{none, noEndpoint}},
		{"deliveries find --endpoint acme/webhook_9", exit.Usage, "--endpoint acme/webhook_9", []string{none, noEndpoint}},
		{"-y dead replay --endpoint acme/webhook_9", exit.Usage, "--endpoint acme/webhook_9", []string{nothing, noEndpoint}},
		{"dead list --endpoint webhook_9", exit.Done, "note: whether there is an endpoint webhook_9", []string{none}},
		{"dead list --endpoint acme/webhook_1", exit.Done, "none\n", []string{none, found}},
		{"dead list --endpoint acme/webhook_2", exit.Done, "was not answered", []string{none, ""}},
		{"dead list --tenant acmee", exit.Done, "note: the tenant acmee has no endpoint", []string{none, none}},
		{"dead list --tenant acme", exit.Done, "none\n", []string{none, some}},
		{"dead purge --tenant acmee", exit.Done, "the tenant acmee has no endpoint", []string{nothing, none}},
		{"rejected list --reason not_prcessed", exit.Usage, "did you mean not_processed?", []string{none}},
		{"rejected publish --reason not-processed", exit.Usage, "did you mean not_processed?", []string{nothing}},
		{"rejected list --reason not_proc", exit.Done, "none\n", []string{none}},
		{"rejected list --reason tenant_id", exit.Done, "none\n", []string{none}},
		{"events send user.creatd --tenant acme", exit.Usage, "no such event: did you mean user.created?", nil},
		{"events send user.created --tenant a --file x", exit.Usage, "either a TYPE or --file", nil},
		{"deliveries find --tenant acme --event evt_none", exit.Done, "none\n", []string{none, some}},
	} {
		f := &fake{later: c.later}
		f.ends(t, c.code, c.line, c.says)
	}
	f := fakeOf(to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1"})))
	if f.ends(t, exit.Done, "dead list --tenant acme --endpoint acme/webhook_1", "msg_1"); len(f.requests) != 1 ||
		f.requests[0]["endpoint_id"] != "webhook_1" {
		t.Errorf("asked %v", f.requests)
	}
}

func TestTest_endsWithItsOutcome(t *testing.T) {
	for want, ended := range map[string]api.Delivery{
		"acknowledged: 204, after 12 ms": {State: delivery.Acknowledged, LastStatus: 204, DurationMS: 12},
		"not acknowledged: http_5xx, 503, after 7 ms": {
			State: delivery.Discarded, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 7,
		},
		"not acknowledged: timeout, no response, after 15000 ms": {
			State: delivery.Discarded, Reason: delivery.ReasonTimeout, DurationMS: 15000,
		},
	} {
		f := fakeOf(to(api.GetDelivery, ended),
			to(api.SendTest, api.TestDelivery{DeliveryID: "msg_1", Result: api.ResultSent}))
		code, out, _ := f.play(t, "y\n", "test", "acme/crm")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if lines[len(lines)-1] != want || (code == exit.Done) != strings.HasPrefix(want, "ack") {
			t.Errorf("exit code %d: %s; want %s", code, out, want)
		}
	}
}
