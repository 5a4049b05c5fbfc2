package circuit

import (
	"os"
	"strings"
	"testing"
	"time"
)

func wantDrawn(t *testing.T, table string) {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(doc), "//\t", ""), table) {
		t.Errorf("the package comment lacks the table\n%s", table)
	}
}

// The first table of the package comment is the rules'.
func TestItem_storedRulesAreTheTableOfTheComment(t *testing.T) {
	read := Item{Version: 7, HeldUntil: epoch.Add(time.Minute)}
	changed, grown := read, read
	changed.Version, grown.HeldUntil = 8, epoch.Add(time.Hour)
	table := "| write | the item is as it was read | its state has changed | its lease has grown | it is gone |\n" +
		"|---|---|---|---|---|\n"
	for _, row := range []struct {
		write string
		rule  func(stored, seen Item) bool
	}{
		{"another state", Item.Seen},
		{"no lease, no item", Item.Untouched},
		{"a lease until five minutes from now", func(stored, _ Item) bool {
			return stored.Grows(epoch.Add(5 * time.Minute))
		}},
	} {
		table += "| " + row.write + " |"
		for _, stored := range []Item{read, changed, grown, {}} {
			table += map[bool]string{true: " yes |", false: " no |"}[row.rule(stored, read)]
		}
		table += "\n"
	}
	wantDrawn(t, table)
}

func TestItem_Grows_byMilliseconds(t *testing.T) {
	i := Item{HeldUntil: epoch}
	for after, want := range map[time.Duration]bool{
		-time.Millisecond: false, 0: false, time.Microsecond: false, time.Millisecond: true,
	} {
		if got := i.Grows(epoch.Add(after)); got != want {
			t.Errorf("by %s: %v", after, got)
		}
	}
}

func TestItem_TakesDeath(t *testing.T) {
	noted := Item{TenantID: "acme", Death: Spell{At: epoch}}
	for name, row := range map[string]struct {
		stored Item
		tenant string
		before time.Duration
		want   bool
	}{
		"of a healthy endpoint":  {Item{}, "acme", -time.Hour, true},
		"the first":              {Item{TenantID: "acme"}, "acme", -time.Hour, true},
		"another tenant's":       {Item{TenantID: "acme"}, "globex", time.Hour, false},
		"since the one before":   {noted, "acme", 0, false},
		"a day after it":         {noted, "acme", time.Millisecond, true},
		"a day after, another's": {noted, "globex", time.Millisecond, false},
	} {
		if got := row.stored.TakesDeath(row.tenant, epoch.Add(row.before)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestItem_forgotten_afterExactlySoLong(t *testing.T) {
	for _, i := range []Item{
		{Since: epoch}, {Last: Answer{At: epoch}}, {Since: epoch.Add(-time.Hour), Last: Answer{At: epoch}},
	} {
		at := epoch.Add(settings.Forget)
		if before, then := i.forgotten(settings, at.Add(-1)), i.forgotten(settings, at); before || !then {
			t.Errorf("%+v: forgotten before: %v, then: %v", i, before, then)
		}
	}
}

// The second table of the package comment is the rule of when an item goes.
func TestItem_Empty_isTheTableOfTheComment(t *testing.T) {
	ends := map[End]string{
		Keep: "kept", Close: "state none", Unpace: "pace ended", Clear: "lease cleared", Remove: "removed",
	}
	old := epoch.Add(-2 * settings.Forget)
	table := "| state | no lease | lease has passed | lease lasts |\n|---|---|---|---|\n"
	for _, row := range []struct {
		name string
		item Item
		gone bool
	}{
		{"none", Item{RecoveredAt: old}, false},
		{"none, less than ten minutes after a recovery began", Item{RecoveredAt: epoch}, false},
		{"failing, open", Item{State: Failing, Since: epoch}, false},
		{"failing, open, without a failure for long", Item{State: Open, Since: old, Last: Answer{At: old}}, false},
		{"recovering", Item{State: Recovering, Since: epoch, RecoveredAt: epoch}, false},
		{"none, failing, after deliveries waited for their rate", Item{Pace: Pace{Quota: 1}}, false},
		{"none, with a notice to be sent, or not to be repeated", Item{Death: Spell{At: epoch}}, false},
		{"none, with an outage that the owner has not seen end", Item{Outage: Spell{At: epoch, Told: true}}, false},
		{"any, of an endpoint that is gone", Item{State: Recovering, Since: epoch, RecoveredAt: epoch}, true},
	} {
		table += "| " + row.name + " |"
		searched := epoch
		for _, lease := range []time.Time{{}, epoch.Add(-time.Second), epoch.Add(time.Second)} {
			i := row.item
			i.HeldUntil = lease
			table += " " + ends[i.Empty(telling, Facts{Gone: row.gone}, searched, epoch)] + " |"
		}
		table += "\n"
	}
	wantDrawn(t, table)
}
