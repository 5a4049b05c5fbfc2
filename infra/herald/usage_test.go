package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"
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
	each(new(app).root(), "")
}

// misuse plays a command line that is wrong in itself: it is refused in plain words, before the stack is looked for.
func misuse(t *testing.T, line string, says ...string) {
	t.Helper()
	f := &fake{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // console serves
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := f.run(ctx, terminal{in: strings.NewReader("y\n"), out: &stdout, err: &stderr}, strings.Fields(line)...)
	out, words := stdout.String(), stderr.String()
	if code != exitUsage || out != "" || f.sought {
		t.Errorf("herald %s: exit code %d, sought %t, output %q", line, code, f.sought, out)
	}
	if inside.MatchString(words) || !strings.HasPrefix(words, "herald: ") {
		t.Errorf("herald %s: %s", line, words)
	}
	contains(t, words, says...)
}

// A new command or flag is swept, too.
func TestEveryFlagOfEveryCommandRefusesWrongUsage(t *testing.T) {
	swept := 0
	everyCommand(func(c *cli.Command, words string) {
		for _, flag := range append(new(app).root().Flags, c.Flags...) {
			name := "--" + flag.Names()[0]
			line := words + " " + name
			switch flag.(type) {
			case *cli.BoolFlag:
				misuse(t, line+"=maybe", name+` is given without a value, and not "maybe"`)
			case *cli.IntFlag:
				for _, value := range []string{"abc", "1.5", "1e3", "1,000", "10k", "0x", "٣"} {
					misuse(t, line+"="+value, name, "no whole number")
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
		"dead list --since soon":                   `--since: "soon" is no time; give 7d or 2h (ago)`,
		"dead list --since 7":                      "is no time",
		"dead list --since 1y":                     "is no time",
		"dead list --since 7d3":                    "is no time",
		"dead list --since 0d":                     "is no time",
		"dead list --since 999999w":                "is no time",
		"dead list --since 2026-13-01":             "is no time",
		"dead list --since 25:00":                  "is no time",
		"dead list --since 2027-01-01":             "--since 2027-01-01 is in the future",
		"dead replay --since 2d --until 7d":        "is not after --since",
		"endpoints discard a/b --before soon":      "is no time",
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
			if code != exitUsage || inside.MatchString(words) || len(f.requests) > 0 {
				t.Errorf("exit code %d, %d requests: %s", code, len(f.requests), words)
			}
			contains(t, words, says)
		})
	}
	misuse(t, "--local --stack nosuch status")
	t.Setenv("HERALD_STACK", "herald-prod") // names the usual stack, and --local another for once
	f := &fake{answers: map[string]string{"inspect summary": `{}`, "inspect endpoints": `{"data":[]}`}}
	f.ends(t, exitDone, "--local status")
	f.ends(t, exitDone, "--local --stack herald-local status")
}

// What names nothing is no empty list.
func TestLists_sayWhatDoesNotExist(t *testing.T) {
	const none = `{"data":[],"next_cursor":null}`
	noEndpoint := `{"error":{"code":"not_found","field":"endpoint_id","message":"none: did you mean crm?"}}`
	noReason := `{"error":{"code":"invalid_field","field":"reason","message":"no such reason: did you mean http_5xx?"}}`
	nothing := `{"selected":0,"ready":0,"complete":true}`
	for _, c := range []struct {
		line  string
		code  int
		says  string
		later []string
	}{
		{"dead list --reason htp_5xx", exitUsage, "no such reason: did you mean http_5xx?", []string{noReason}},
		{"dead replay --reason htp_5xx", exitUsage, "no such reason: did you mean http_5xx?", []string{noReason}},
		{"dead list --endpoint acme/crmm", exitUsage, "acme/crmm: endpoint_id: none: did", []string{noEndpoint}},
		{"-y dead purge --endpoint acme/crmm", exitUsage, "--endpoint acme/crmm", []string{noEndpoint}},
		{"dead list --endpoint acme/webhook_9", exitUsage, "--endpoint acme/webhook_9", []string{none, noEndpoint}},
		{"deliveries find --endpoint acme/webhook_9", exitUsage, "--endpoint acme/webhook_9", []string{none, noEndpoint}},
		{"-y dead replay --endpoint acme/webhook_9", exitUsage, "--endpoint acme/webhook_9", []string{nothing, noEndpoint}},
		{"dead list --endpoint webhook_9", exitDone, "note: whether there is an endpoint webhook_9", []string{none}},
		{"dead list --endpoint acme/webhook_1", exitDone, "none\n", []string{none, `{"endpoint_id":"webhook_1"}`}},
		{"dead list --endpoint acme/webhook_2", exitDone, "was not answered", []string{none, ""}},
		{"dead list --tenant acmee", exitDone, "note: the tenant acmee has no endpoint", []string{none, none}},
		{"dead list --tenant acme", exitDone, "none\n", []string{none, `{"data":[{}]}`}},
		{"dead purge --tenant acmee", exitDone, "the tenant acmee has no endpoint", []string{nothing, none}},
		{"rejected list --reason not_prcessed", exitUsage, "did you mean not_processed?", []string{none}},
		{"rejected publish --reason not-processed", exitUsage, "did you mean not_processed?", []string{nothing}},
		{"rejected list --reason not_proc", exitDone, "none\n", []string{none}},
		{"rejected list --reason tenant_id", exitDone, "none\n", []string{none}},
		{"events send user.creatd --tenant acme", exitUsage, "no such event: did you mean user.created?", nil},
		{"events send user.created --tenant a --file x", exitUsage, "either a TYPE or --file", nil},
		{"deliveries find --tenant acme --event evt_none", exitDone, "none\n", []string{none, `{"data":[{}]}`}},
	} {
		f := &fake{later: c.later}
		f.ends(t, c.code, c.line, c.says)
	}
	f := &fake{later: []string{`{"data":[{"delivery_id":"msg_1"}],"next_cursor":null}`}}
	if f.ends(t, exitDone, "dead list --tenant acme --endpoint acme/webhook_1", "msg_1"); len(f.requests) != 1 ||
		f.requests[0]["endpoint_id"] != "webhook_1" {
		t.Errorf("asked %v", f.requests)
	}
}

func TestParseTime_takesWhatOperatorsType(t *testing.T) {
	zone := time.FixedZone("CEST", 7200)
	here := now.In(zone) // 11:00
	for text, want := range map[string]string{
		"7d": "2026-04-25T09:00:00Z", "2w": "2026-04-18T09:00:00Z", "1d12h": "2026-04-30T21:00:00Z",
		"1w2d": "2026-04-23T09:00:00Z", "1.5d": "2026-04-30T21:00:00Z", "90m": "2026-05-02T07:30:00Z",
		"1h30m": "2026-05-02T07:30:00Z", "30min": "2026-05-02T08:30:00Z", "45s": "2026-05-02T08:59:15Z",
		"7 days": "2026-04-25T09:00:00Z", "7 days ago": "2026-04-25T09:00:00Z", "1day": "2026-05-01T09:00:00Z",
		"3hrs": "2026-05-02T06:00:00Z", "2 weeks": "2026-04-18T09:00:00Z", "-2h": "2026-05-02T07:00:00Z",
		"now": "2026-05-02T09:00:00Z", "today": "2026-05-01T22:00:00Z", "yesterday": "2026-04-30T22:00:00Z",
		"2026-04-30": "2026-04-29T22:00:00Z", "2026-04-30T15:04": "2026-04-30T13:04:00Z",
		"2026-04-30 15:04": "2026-04-30T13:04:00Z", "2026-04-30T15:04:05": "2026-04-30T13:04:05Z",
		"2026-04-30 15:04:05Z": "2026-04-30T15:04:05Z", "2026-04-30 15:04:05": "2026-04-30T13:04:05Z",
		"2026-04-30T15:04:05.123Z": "2026-04-30T15:04:05Z", "2026-04-30T15:04:05+01:00": "2026-04-30T14:04:05Z",
		"10:30": "2026-05-02T08:30:00Z", "11:30": "2026-05-01T09:30:00Z", "10:30:05": "2026-05-02T08:30:05Z",
		"1767366245": "2026-01-02T15:04:05Z", "1767366245000": "2026-01-02T15:04:05Z",
	} {
		got, err := parseTime("since", text, here)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v; want %s", text, got.UTC(), err, want)
		}
	}
	for _, text := range []string{
		"", " ", "7", "d", "7x", "1y", "1mo", "7d3", "d7", "0", "0d", "1e3d", "-", "--7d", "ago", "999999w", "20260102",
		"176736624", "17673662450000", "24:00", "2026-02-30", "tomorrow", "7d ago ago", "1_000h",
	} {
		if got, err := parseTime("since", text, here); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestTest_endsWithItsOutcome(t *testing.T) {
	for _, c := range []struct{ ended, want string }{
		{`"acknowledged","last_status":204,"duration_ms":12`, "acknowledged: 204, after 12 ms"},
		{`"discarded","last_status":503,"reason":"http_5xx","duration_ms":7`, "not acknowledged: http_5xx, 503, after 7 ms"},
		{
			`"discarded","last_status":0,"reason":"timeout","duration_ms":15000`,
			"not acknowledged: timeout, no response, after 15000 ms",
		},
	} {
		f := &fake{later: []string{`{"delivery_id":"msg_1","result":"sent"}`, `{"state":` + c.ended + `}`}}
		code, out, _ := f.play(t, "", "test", "acme/crm")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if lines[len(lines)-1] != c.want || (code == exitDone) != strings.HasPrefix(c.want, "ack") {
			t.Errorf("exit code %d: %s; want %s", code, out, c.want)
		}
	}
}
