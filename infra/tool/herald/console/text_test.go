package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTraffic_showsWhatWasMeasuredOrSaysThatNothingWas(t *testing.T) {
	for value, says := range map[float64]string{
		0.25:       `succeeded</td><td data-column="line">share</td><td data-column="unit">%</td>`,
		math.NaN(): "No metrics in the last day",
	} {
		web, browser, _ := open(t, &functions{measured: value})
		page := body(t, get(t, browser, web.URL+"/traffic?span=day"), says)
		if strings.Contains(page, `class="chart"`) == math.IsNaN(value) {
			t.Errorf("%v\n%s", value, page)
		}
	}
}

// A picture in other colours would be unreadable in one of the page's two schemes.
func TestTraffic_isDrawnInThePagesColours(t *testing.T) {
	web, browser, _ := open(t, &functions{measured: 0.25})
	page := body(t, get(t, browser, web.URL+"/traffic?span=day"))
	style := body(t, get(t, browser, web.URL+"/static/style.css"))
	colours := regexp.MustCompile(`(?:fill|stroke)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	for _, c := range colours {
		name, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(c[1], "var("), ")"), ",")
		if c[1] != "none" && (!strings.HasPrefix(name, "--") || strings.Count(style, name+":") != 2) {
			t.Errorf("%s is not of the page in light and in dark", c[0])
		}
	}
	if len(colours) < 10 {
		t.Errorf("%d colours in\n%s", len(colours), page)
	}
}

func TestJob_showsItsOutcomeAndHowToGoOnWithTheRest(t *testing.T) {
	web, browser, _ := open(t, &functions{})
	page := body(t, get(t, browser, web.URL+"/job?job_id=job_1"),
		`max="10" value="8"`, "running: 5 of 10 done, refused: 3 endpoint_deleted; 2 left", "/job/stop",
		"<b>6</b> sent", "<b>2</b> delivered", "<b>2</b> dead again",
		"<b>2</b> under way, of these 2 held for their endpoints", "the first 6 of the job",
		"Its owner can restore it", `/letter?delivery_id=msg_9"`, "/job?cursor=page&#43;2&amp;job_id=job_1")
	if strings.Contains(page, "resume_job") {
		t.Error("a running job can be resumed")
	}
}

// Without a selection, dead_letters and keys refuse.
func TestPages_leadOn(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/jobs"), `/jobs?cursor=page&#43;2"`)
	f.asked = nil
	get(t, browser, web.URL+"/dead?reason=timeout")
	if want := `inspect dead_letters {"reason":"timeout","status":"dead"}`; !slices.Contains(f.asked, want) {
		t.Errorf("asked %v, not %s", f.asked, want)
	}
	f.asked = nil
	get(t, browser, web.URL+"/keys?cursor=page+2&tenant_id=acme")
	if want := []string{`apikeysrevoke list {"cursor":"page 2","tenant_id":"acme"}`}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %v, not %v", f.asked, want)
	}
}

func TestActs_areOneRowForEachRequest_theLatestFirst_looksApart(t *testing.T) {
	web, browser, _ := open(t, &functions{})
	page := body(t, get(t, browser, web.URL+"/acts?span=hour"), "choose a shorter time")
	row := `<td data-column="ids" class="n"><bdi title="%d">%[1]d</bdi></td>`
	order := []string{">Changes<", fmt.Sprintf(row, 3), fmt.Sprintf(row, 1), ">Looks<", "inspect dead letter"}
	at := 0
	for _, text := range order {
		next := strings.Index(page[at:], text)
		if next < 0 {
			t.Fatalf("no %q behind the others in\n%s", text, page)
		}
		at += next
	}
}

func TestHtmx_isTheReleaseThatItsNameSays(t *testing.T) {
	script, err := staticFiles.ReadFile("static/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	const release = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717" // htmx.org 2.0.11, dist/htmx.min.js
	if sum := sha256.Sum256(script); hex.EncodeToString(sum[:]) != release {
		t.Errorf("SHA-256 %x, want %s", sum, release)
	}
}
