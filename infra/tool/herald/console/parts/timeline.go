package parts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// entry is a moment of a timeline.
type entry struct {
	At     Cell
	Text   string
	Detail string
	Class  string
	order  time.Time
}

// Timeline is a list of moments, the oldest first. Those to come, or without a time, are at its end.
type Timeline struct {
	site    Site
	Entries []entry
}

// add adds a moment that has a time.
func (t *Timeline) add(at any, class, text, detail string) {
	when, err := time.Parse(time.RFC3339, answers.Shown(at))
	if err != nil {
		return
	}
	t.Entries = append(t.Entries, entry{At: t.site.At(at), Text: text, Detail: detail, Class: class, order: when})
}

// Wait adds the end of a wait, which has no time.
func (t *Timeline) Wait(text, detail string) {
	t.Entries = append(t.Entries, entry{Text: text, Detail: detail, Class: "next"})
}

// sorted is the timeline in the order of time.
func (t *Timeline) sorted() *Timeline {
	slices.SortStableFunc(t.Entries, func(a, b entry) int {
		if a.order.IsZero() || b.order.IsZero() {
			return cmp.Compare(boolean(a.order.IsZero()), boolean(b.order.IsZero()))
		}
		return a.order.Compare(b.order)
	})
	return t
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// DeliveryTimeline tells a delivery's life, as far as its record has it. e is its endpoint, nil where it is not known.
func (s Site) DeliveryTimeline(d, e answers.Row) *Timeline {
	t := &Timeline{site: s}
	t.add(d["occurred_at"], "", "Event occurred", "as its publisher says")
	t.add(d["created_at"], "", "Event accepted, delivery made", Text(d, "event_type")+" "+Text(d, "event_id"))
	if n := answers.Number(d, "replay"); n > 0 {
		t.add(d["created_at"], "", "Sent again by operators since", Grouped(n)+" times; its dead letter has the deaths")
	}
	last := answered(d, "reason")
	if ms := answers.Number(d, "duration_ms"); ms > 0 {
		last += ", " + Grouped(ms) + " ms"
	}
	attempts := Grouped(answers.Number(d, "attempts"))
	switch state := answers.Text(d, "state"); state {
	case "acknowledged":
		t.add(d["updated_at"], "good", "Acknowledged", "at attempt "+attempts+": "+last)
	case "dead":
		t.add(d["updated_at"], "bad", "Died", "after "+attempts+" attempts, the last: "+last)
	case "retrying":
		t.add(d["updated_at"], "warn", "Attempt "+attempts+" failed", last)
		t.add(d["next_attempt_at"], "next", "Next attempt", "attempt "+Grouped(answers.Number(d, "attempts")+1))
	case "waiting":
		t.add(d["updated_at"], "warn", "Waits since then", "after "+attempts+" attempts: "+last)
		t.waits(d, e)
	default:
		t.add(d["updated_at"], colour(state), strings.ToUpper(state[:min(1, len(state))])+state[min(1, len(state)):], last)
	}
	return t.sorted()
}

// AddAttempts adds a delivery's attempts.
func (t *Timeline) AddAttempts(attempts []stack.Attempt) {
	for _, a := range attempts {
		var said []string
		if a.Status != 0 {
			said = append(said, strconv.Itoa(a.Status))
		}
		if a.Reason != "" {
			said = append(said, string(a.Reason))
		}
		told := strings.Join(said, " ") + ", " + Grouped(a.Millis) + " ms"
		if a.Next > 0 {
			told += "; the next in " + Coarse(a.Next.Round(time.Second))
		}
		t.add(a.At, outcomes[a.Outcome], "Attempt "+strconv.Itoa(a.Number), told)
	}
	t.sorted()
}

// outcomes are the colours of attempts.
var outcomes = map[delivery.Verdict]string{
	delivery.VerdictAcknowledged: "good", delivery.VerdictRetry: "warn", delivery.VerdictDead: "bad",
}

// waits names the end of a delivery's wait.
func (t *Timeline) waits(d, e answers.Row) {
	if d["next_attempt_at"] != nil {
		t.add(d["next_attempt_at"], "next", "Next attempt", "by its schedule")
		return
	}
	name := "its endpoint"
	if e != nil {
		name = NameOf(e)
	}
	switch reason := answers.Text(d, "reason"); {
	case reason == "rate_limited":
		t.Wait("Waits for its rate", name+" gets so many a second only")
	case answers.At(e, "health.next_probe_at") != nil:
		t.Wait("Waits for "+name, "sent after the next probe that succeeds")
		t.add(answers.At(e, "health.next_probe_at"), "next", "Next probe of the endpoint", "one delivery, perhaps another")
	case strings.HasSuffix(reason, "paused"):
		t.Wait("Waits for "+name, "until an operator resumes it")
	default:
		t.Wait("Waits for "+name, reason)
	}
}

// EndpointTimeline tells the endpoint's recent life.
func (s Site) EndpointTimeline(e answers.Row) *Timeline {
	t, health := &Timeline{site: s}, e["health"]
	t.add(e["created_at"], "", "Created by its owner", "")
	if Text(e, "updated_at") != Text(e, "created_at") {
		t.add(e["updated_at"], "", "Changed by its owner", "")
	}
	t.add(e["secret_rotated_at"], "", "Secret rotated", "")
	t.add(e["previous_secret_until"], "next", "The secret before stops signing", "")
	t.add(answers.At(health, "recovered_at"), "good", "Last recovery began", "")
	t.add(answers.At(health, "outage_since"), "bad", "Outage began", "the first failure")
	t.add(answers.At(health, "last_failure_at"), "bad", "Last failure", answered(health, "last_reason"))
	t.add(answers.At(health, "last_probe_at"), "", "Last probe", "")
	if state := Text(health, "state"); state != "healthy" {
		t.add(answers.At(health, "since"), colour(state), "Is "+state+" since then", "")
	}
	t.add(answers.At(health, "next_probe_at"), "next", "Next probe", "")
	t.add(answers.At(health, "discarded_before"), "", "What began before was discarded", "")
	t.add(e["deleted_at"], "bad", "Deleted by its owner", "")
	return t.sorted()
}

// LetterTimeline tells the deaths of a dead letter.
func (s Site) LetterTimeline(l answers.Row) *Timeline {
	t := &Timeline{site: s}
	t.add(l["occurred_at"], "", "Event occurred", "as its publisher says")
	t.add(l["created_at"], "", "Event accepted, delivery made", Text(l, "event_type")+" "+Text(l, "event_id"))
	deaths, _ := l["history"].([]any)
	for _, death := range deaths {
		said := "after " + Grouped(answers.Number(death, "attempts")) + " attempts, the last: " +
			answered(death, "reason")
		if n := answers.Number(death, "replay"); n > 0 {
			said += "; after replay " + Grouped(n)
		}
		if detail := Text(death, "detail"); detail != "–" {
			said += "; " + detail
		}
		t.add(answers.At(death, "died_at"), "bad", "Died", said)
	}
	switch Text(l, "status") {
	case "replayed":
		t.Wait("Replayed", "its delivery has the rest")
	case "replaying":
		t.Wait("Being replayed", "after two minutes, it can be replayed again")
	}
	return t.sorted()
}

// JobTimeline tells a job's life.
func (s Site) JobTimeline(j answers.Row) *Timeline {
	t := &Timeline{site: s}
	t.add(j["started_at"], "", "Started by "+Text(j, "operator"), Grouped(answers.Number(j, "selected"))+" selected")
	switch state := Text(j, "state"); state {
	case "running":
		t.Wait("Working", Grouped(answers.Number(j, "left"))+" left, at most 50 a second")
	case "stopped":
		t.add(j["updated_at"], "warn", "Stopped by "+Text(j, "stopped_by"), "")
	default:
		t.add(j["updated_at"], "good", "Done", Grouped(answers.Number(j, "done"))+" done")
	}
	return t.sorted()
}
