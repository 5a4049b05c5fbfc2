package main

import (
	"regexp"
	"strings"
	"time"
)

// proof is a command that holds claims up.
type proof struct {
	claims  []string
	command string        // {for} stands for the time that the caller gives a search, {quarter} for a quarter of it
	bound   time.Duration // beside its searches
	// searches is how often that time is spent. A command without searches ends by itself.
	searches int
	needs    []string // programs that make does not install
	// figure is the part of the output that says how far the proof goes, such as how many changes were noticed. A
	// command that succeeds without it has proved nothing.
	figure *regexp.Regexp
	// absent is what the command prints if it could not try, such as without a database of a service.
	absent *regexp.Regexp
	// kept is the result of a command that is not run here, because it takes hours or needs AWS.
	kept *result
}

// onAWS is the result of everything that only a deployed stack can show.
var onAWS = &result{Says: "not run: it needs a stack on AWS"}

// proofs are played in this order, what says most about a change first. The sum of their usual times is what
// "make proofs" promises, an hour and a quarter with searches of a minute on two cores. Their bounds are far above.
var proofs = []proof{
	{
		claims: []string{
			"A killed process loses nothing", "No receiver harms the sender",
			"Each alarm rings on its bad day, and on no good one", "Each role can do what it must, and no more",
			"The published receivers keep the contract",
		},
		command: "make test", bound: 30 * time.Minute,
		figure: regexp.MustCompile(`DONE \d+ tests`),
	},
	{
		claims: []string{
			"No delivery gets lost, sent more often than it may, or stranded", "Whatever call to AWS fails, nothing is lost",
		},
		command: "make invariants FOR={for}", bound: 15 * time.Minute, searches: 3,
	},
	{
		claims:  []string{"No tenant delays the others for long"},
		command: "go test -count 1 ./infra/proofs/simulate", bound: 10 * time.Minute,
	},
	{
		claims:  []string{"No tenant delays the others for long"},
		command: "make simulate",
		kept: &result{
			Says: "the goals hold, but for those that capacity.md names; it takes hours: the row above plays its worst points",
			Time: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Commit: "97ddc663",
		},
	},
	{claims: []string{"The stack can be deployed"}, command: "make package rehearse", bound: 25 * time.Minute},
	{
		claims: []string{"The model is like the stores"}, bound: 20 * time.Minute, needs: []string{"javac"},
		command: "go test -count 1 ./internal/testkit/model && make second-engine",
	},
	{
		claims: []string{"Libraries verify deliveries unchanged"}, command: "make libraries", bound: 20 * time.Minute,
		needs: []string{"cargo", "mvn", "javac"},
	},
	{
		claims:  []string{"The tests notice changes"},
		command: "make mutants", bound: 25 * time.Minute,
		figure: regexp.MustCompile(`\d+ of \d+ changes are noticed`),
	},
	{
		claims: []string{"The cost is what the page says"}, bound: 10 * time.Minute, needs: []string{"javac"},
		command: "go test -count 1 -tags emulator -run TestCost ./infra/proofs/cost",
	},
	{
		claims:  []string{"No input breaks a parser"},
		command: "make fuzz FOR={quarter}", bound: 20 * time.Minute, searches: 23 / 4,
	},
	{
		claims:  []string{"A new version finishes what the last one began, and after a rollback that one does"},
		command: "make versions OLDER=$(git log -1 --format=%h -- infra/proofs/template/testdata/releases)",
		bound:   20 * time.Minute,
	},
	{
		claims:  []string{"Own event types do all that the 26 do"},
		command: "make publishers suite", bound: 15 * time.Minute,
	},
	{
		claims:  []string{"The outbox of the examples loses no event"},
		command: "make outbox KILLS=40 EVENTS=5000", bound: 20 * time.Minute, needs: []string{"psql"},
	},
	{
		claims:  []string{"An operator handles an incident by the page alone"},
		command: "make practise settings", bound: 15 * time.Minute, needs: []string{"chromium"},
	},
	{
		claims:  []string{"No receiver harms the sender"},
		command: "go run ./infra/proofs/hostile -sender herald > .local/hostile.txt && grep '^0 of' .local/hostile.txt",
		bound:   15 * time.Minute,
		figure:  regexp.MustCompile(`\d+ of \d+ receivers found something`),
	},
	{
		claims:  []string{"Signing and sealing keep to FIPS 140-3 where that is switched on"},
		command: "make fips TIMEOUT=40m", bound: 40 * time.Minute,
	},
	{
		claims:  []string{"A package is the same, byte for byte, wherever it is built"},
		command: "make reproducible", bound: 30 * time.Minute,
	},
	{
		claims:  []string{"The template holds in every Region"},
		command: "make regions", bound: 25 * time.Minute,
	},
	{
		claims: []string{"The Terraform module is valid"}, command: "make terraform", bound: 10 * time.Minute,
		needs: []string{"terraform"}, absent: regexp.MustCompile(`Failed to query available provider packages`),
	},
	{
		claims: []string{"No known vulnerability is in what the code calls"}, command: "make vulns", bound: 10 * time.Minute,
		absent: regexp.MustCompile(`nothing was checked`),
	},
	{
		claims:  []string{"A delivery costs a few times the CPU of a bare POST"},
		command: "make bench ARGS='-rounds 3'", bound: 15 * time.Minute,
		figure: regexp.MustCompile(`deliver, 10 +[\d.]+`), // times the bare client's
	},
	{claims: []string{"A deployed stack delivers"}, command: "herald verify", kept: onAWS},
	{claims: []string{"AWS's IAM refuses what the roles must not do"}, command: "herald verify --probe", kept: onAWS},
	{claims: []string{"Alarms reach somebody"}, command: "herald verify --alarm", kept: onAWS},
}

// with is the command whose searches take as long as each says.
func (p proof) with(each time.Duration) string {
	return strings.NewReplacer("{for}", short(each), "{quarter}", short(each/4)).Replace(p.command)
}

// limit is the time after which the command is ended.
func (p proof) limit(each time.Duration) time.Duration {
	return p.bound + time.Duration(p.searches)*each
}

// short is a time as make takes it, such as 1m30s and 5m.
func short(d time.Duration) string {
	if text, whole := strings.CutSuffix(d.String(), "m0s"); whole {
		return text + "m"
	}
	return d.String()
}
