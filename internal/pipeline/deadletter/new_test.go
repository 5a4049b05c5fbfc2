package deadletter

import "testing"

func TestNew_notesDeathsWhereNoticesAreOn(t *testing.T) {
	if New(Config{Settings: Settings{Notices: true}}).Notices == nil || New(Config{}).Notices != nil {
		t.Error("deaths are noted elsewhere, or not")
	}
}
