package simulate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHistogram(t *testing.T) {
	var h histogram
	for n := range 100 {
		h.add(time.Duration(n) * 100 * time.Millisecond)
	}
	h.add(time.Hour)
	if p50, p100 := h.quantile(0.5), h.quantile(1); p50.Round(time.Second) != 5*time.Second || p100 != time.Hour {
		t.Errorf("quantiles %s and %s", p50, p100)
	}
	if empty := (&histogram{}); empty.quantile(0.99) != 0 {
		t.Error("nothing has a quantile")
	}
}

func TestWorstDay(t *testing.T) {
	bins := make([]bin, 3*day/binLength)
	for n := range bins {
		bins[n] = bin{First: 10}
	}
	bins[100].Late, bins[150].Late = 5, 4
	if got, want := worstDay(bins), 9.0/960; got != want {
		t.Errorf("of three days %v, want %v", got, want)
	}
	if got, want := worstDay(bins[100:102]), 5.0/20; got != want {
		t.Errorf("of half an hour %v, want %v", got, want)
	}
}

func TestStats_keepTheFirst2xxAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Scenario{Length: time.Minute, up: time.Minute})
		h := w.own("tenant-0", 0, subject, nil)
		n := w.stats.published(w, h)
		time.Sleep(w.scenario.up)
		for range 2 {
			w.stats.posted(w, h, n, ok(0))
			time.Sleep(time.Second)
		}
		if w.stats.FirstOK != 0 {
			t.Errorf("the first 2xx came %s after the outage, want at its very end", w.stats.FirstOK)
		}
	})
}

func TestProblems_nameTheGoalThatIsMissed(t *testing.T) {
	good := Result{Scenario{Name: "hang", Kind: Attack, Length: day}, Figures{RetriesP99: time.Second}}
	for want, change := range map[string]func(*Result){
		"":               func(*Result) {},
		"lost":           func(r *Result) { r.Lost = 1 },
		"first attempts": func(r *Result) { r.WorstDay = 0.003 },
		"retries":        func(r *Result) { r.RetriesP99 = 6 * time.Second },
		"is slow":        func(r *Result) { r.Kind, r.Slow = Honest, true },
		"its own":        func(r *Result) { r.Kind, r.OwnP99 = Honest, 2*time.Second },
		"dead":           func(r *Result) { r.Kind, r.Deaths = Outage, 1 },
		"at most 2.40 %": func(r *Result) { r.Variant, r.WorstDay, r.Length = "rate", 0.025, 30*time.Minute },
		"12 POSTs":       func(r *Result) { r.Kind, r.limit, r.Pace = Paced, 5, Pace{Seconds: 12, Least: 5, Most: 5} },
		"4.70 to 5.00":   func(r *Result) { r.Kind, r.limit, r.Pace = Paced, 5, Pace{Least: 4.7, Most: 5} },
		"5.00 to 5.30":   func(r *Result) { r.Kind, r.limit, r.Pace = Paced, 5, Pace{Least: 5, Most: 5.3} },
		"a younger one":  func(r *Result) { r.Kind, r.Pace.Overtaken = Paced, time.Minute },
		"of the others":  func(r *Result) { r.Wrongly = 1 },
		"for 41.0 s":     func(r *Result) { r.Kind, r.Busy.Seconds, r.tenants = Swept, 41, 1 },
		"for 109.0 s":    func(r *Result) { r.Kind, r.Busy.Seconds, r.tenants = Swept, 109, 10 },
		"pace is 90.0":   func(r *Result) { r.Kind, r.crowd, r.Shares = Shared, crowd{tenants: 10}, Shares{90, 12_000, 0} },
		"sent 9500":      func(r *Result) { r.Kind, r.crowd, r.Shares = Shared, crowd{tenants: 50}, Shares{80, 9500, 0} },
		"3 attackers":    func(r *Result) { r.Kind, r.Busy.Fast, r.Busy.Going, r.tenants = Swept, 3, 0.006, 10 },
	} {
		r := good
		change(&r)
		problems := strings.Join(r.Problems(), "\n")
		if !strings.Contains(problems, want) || want == "" && problems != "" {
			t.Errorf("want %q, got %q", want, problems)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	results := []Result{
		{Scenario{Name: "hang", Kind: Attack, Rate: 1000, Length: 2 * time.Hour}, Figures{WorstDay: 0.003, Dollars: 1}},
		{Scenario{Name: "hang", Kind: Attack, Rate: 10, Length: 24 * time.Hour}, Figures{Dollars: 2.5}},
		{Scenario{Name: "flap", Kind: Attack, Rate: 10, Length: time.Hour}, Figures{WorstDay: 0.001, Dollars: 9}},
		{Scenario: Scenario{Name: "usual", Kind: Honest, Rate: 10, Length: time.Hour}},
		{Scenario: Scenario{Name: "day", Kind: Outage, Length: 2 * time.Minute}},
		{sweptBy(1, false), Figures{Busy: Busy{Seconds: 3}}}, {sweptBy(1, true), Figures{Busy: Busy{Seconds: 2}}},
		{sweptBy(10, false), Figures{Busy: Busy{Seconds: 11}}},
		{
			rated{limit: 1, hooks: 1, published: 2}.scenario(""),
			Figures{Pace: Pace{Seconds: 2, Least: 0.9, Most: 1.1}, Dollars: 3},
		},
	}
	if err := Write(dir, filepath.Join(dir, every), results); err == nil {
		t.Error("written without a page")
	}
	text := writePage(t, dir, results)
	for _, part := range []string{"before\n", "\nbehind\n", "- `hang@1000`: 0.30 % of others'", "`hang`"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "`flap`") {
		t.Errorf("the page has an attack that is not the worst:\n%s", text)
	}
	rows, err := os.ReadFile(filepath.Join(dir, every))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`flap`",
		"| `rate-1/2-a-second` | 2/s, endpoints: 1 | 0.90 to 1.10 | 2 | – | 0.00 % | 3.00 |",
		"`usual`", "`day`", "| 1,000/s, 2 h; 10/s, 24 h | 0.30 % / – | 2.50 |",
		"| `busy-2.9`: 2xx after 2.9 s | 3.0 s / 2.0 s | 11.0 s / – | – / – |",
	} {
		if !strings.Contains(string(rows), want) {
			t.Errorf("no %q in\n%s", want, rows)
		}
	}
	if strings.Contains(text, "old") {
		t.Error("the old figures are still there")
	}
}

func sweptBy(tenants int, fair bool) Scenario {
	s := busy{took: 2900 * time.Millisecond, share: 1.1, tenants: tenants}.scenario(100)
	s.Fair = fair
	return s
}

// Two versions of the code are compared by these lines.
func TestSweep(t *testing.T) {
	b := Busy{Seconds: 11, SlowAfter: 5 * time.Second, Fast: 2, Going: 0.5}
	got := Sweep([]Result{{sweptBy(10, true), Figures{Busy: b}}})
	if want := "\n| busy-2.9@100/ten/1.1/fair | 11.0 s | 5s | 2 | 50.0 % | 0.0 |\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// every is the file with all figures.
const every = "simulated.md"

// writePage writes into a page with old figures, and returns its text.
func writePage(t *testing.T, dir string, results []Result) string {
	t.Helper()
	page := filepath.Join(dir, "capacity.md")
	if err := os.WriteFile(page, []byte("before\n"+writtenFrom+"\nold\n"+writtenTo+"\nbehind\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, filepath.Join(dir, every), results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A plot is left as it is unless all that it shows was played.
func TestPlot(t *testing.T) {
	day := Result{
		Scenario{Name: "day", Kind: Outage, Length: 2 * time.Minute},
		Figures{Samples: []Sample{{1, 2, 3}, {86_921, 5, 6}}},
	}
	var all []Result
	for _, s := range attacks() {
		s.Length = time.Hour
		all = append(all, Result{s, Figures{Bins: []bin{{10, 1}, {10, 0}}}})
	}
	flooded := Result{
		Scenario{Name: "rate-10", Variant: toItsEnd, Kind: Paced, limit: 10},
		Figures{Samples: []Sample{{1, 2, 3}}, Pace: Pace{Sent: []int{10}, Published: []int{1000}}},
	}
	for name, c := range map[string]struct {
		results []Result
		want    []string
	}{
		"an outage":   {[]Result{day, all[0]}, []string{"outage.svg"}},
		"all attacks": {all, []string{"lateness.svg"}},
		"both":        {append(all, day), []string{"lateness.svg", "outage.svg"}},
		"a pace":      {[]Result{flooded}, []string{"paced.svg"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writePage(t, dir, c.results)
			drawn, err := filepath.Glob(filepath.Join(dir, "*.svg"))
			for n := range drawn {
				drawn[n] = filepath.Base(drawn[n])
			}
			if err != nil || !slices.Equal(drawn, c.want) {
				t.Errorf("%v, %v", drawn, err)
			}
		})
	}
	if drawn := recovery([]Result{day}); !strings.Contains(drawn, "up to 86,921 deliveries") {
		t.Error(drawn)
	}
}
