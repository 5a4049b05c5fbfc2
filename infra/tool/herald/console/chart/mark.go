package chart

import "time"

// Mark is something that happened, for charts and for the list under them. A deployment lasts.
type Mark struct {
	At, Until time.Time // At is zero where the beginning is unknown, Until where it goes on
	Kind      Kind
	Text      string
}

// When is the moment under which a list has the mark.
func (m Mark) When() time.Time {
	if m.At.IsZero() {
		return m.Until
	}
	return m.At
}

// Kind tells marks apart, by their form.
type Kind string

// The kinds of marks, in words for those who cannot see forms.
const (
	Alarm    Kind = "alarm"
	Act      Kind = "act of an operator"
	Deployed Kind = "deployment"
	Ongoing  Kind = "deployment under way"
	Undone   Kind = "deployment that did not succeed"
)

// lasts says whether marks of a kind have a beginning and an end.
func (k Kind) lasts() bool { return k == Deployed || k == Ongoing || k == Undone }
