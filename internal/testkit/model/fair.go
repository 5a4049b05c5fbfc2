package model

import "cmp"

// lines are the visible messages of a queue, each line in the order of receives. A fair queue has a line for each
// message group, any other queue has one line for all.
//
// SQS documents that a fair queue favours groups with few messages in flight, and not how. The model takes the ideal:
// the next message is always of the group with the fewest in flight, and of several such groups the message that became
// visible first.
type lines struct {
	fair   bool
	of     map[string][]entry // no line is empty
	flying map[string]int     // messages in flight, by line
}

func (l *lines) name(m *message) string {
	if l.fair {
		return m.group
	}
	return ""
}

func (l *lines) push(e entry) {
	if l.of == nil {
		l.of = map[string][]entry{}
	}
	l.of[l.name(e.message)] = append(l.of[l.name(e.message)], e)
}

// pop takes the next message, nil where none is visible.
func (l *lines) pop() *message {
	var first entry
	var from string
	for name := range l.of {
		if !l.drop(name) {
			continue
		}
		if e := l.of[name][0]; first.message == nil || l.before(name, e, from, first) {
			from, first = name, e
		}
	}
	if first.message != nil {
		l.cut(from)
	}
	return first.message
}

// drop removes the void entries at the head of a line, and reports whether any other is left.
func (l *lines) drop(name string) bool {
	for len(l.of[name]) > 0 && !l.of[name][0].valid() {
		l.cut(name)
	}
	return len(l.of[name]) > 0
}

func (l *lines) cut(name string) {
	l.of[name] = l.of[name][1:]
	if len(l.of[name]) == 0 {
		delete(l.of, name)
	}
}

func (l *lines) before(name string, e entry, other string, than entry) bool {
	return cmp.Or(
		cmp.Compare(l.flying[name], l.flying[other]), cmp.Compare(e.at, than.at), cmp.Compare(e.id, than.id),
	) < 0
}

func (l *lines) visible() (n int) {
	for _, line := range l.of {
		for _, e := range line {
			if e.valid() {
				n++
			}
		}
	}
	return n
}

// took and landed count the messages in flight.
func (l *lines) took(m *message) {
	if l.flying == nil {
		l.flying = map[string]int{}
	}
	l.flying[l.name(m)]++
}

func (l *lines) landed(m *message) {
	name := l.name(m)
	if l.flying[name]--; l.flying[name] == 0 {
		delete(l.flying, name)
	}
}
