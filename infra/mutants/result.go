package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parseExplanations reads survivors that may be: a line with the mutant's key as the report
// prints it, below it the reason, indented. Lines that start with # say something to people.
func parseExplanations(text string) (map[string]string, error) {
	reasons := map[string]string{}
	key := ""
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		switch {
		case words == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"):
			if key == "" {
				return nil, fmt.Errorf("%q explains nothing", words)
			}
			reasons[key] += words + " "
		default:
			key = words
			if _, twice := reasons[key]; twice {
				return nil, fmt.Errorf("%q is explained twice", key)
			}
			reasons[key] = ""
		}
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		if reasons[key] == "" {
			return nil, fmt.Errorf("%q has no reason", key)
		}
	}
	return reasons, nil
}

// result sums up one package.
type result struct {
	name              string
	killed, explained int
	lived, notCovered []mutant // without an explanation
	idle              []string // explanations of mutants that do not survive
}

func sumUp(name string, mutants []mutant, reasons map[string]string) result {
	r := result{name: name}
	used := map[string]bool{}
	for _, m := range mutants {
		_, known := reasons[m.key(name)]
		survived := m.status == lived || m.status == notCovered
		switch {
		case survived && known:
			used[m.key(name)] = true
			r.explained++
		case m.status == lived:
			r.lived = append(r.lived, m)
		case m.status == notCovered:
			r.notCovered = append(r.notCovered, m)
		case m.status == killed, m.status == timedOut:
			r.killed++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		if strings.HasPrefix(key, name+" ") && !used[key] {
			r.idle = append(r.idle, key)
		}
	}
	return r
}

// efficacy is how many of 100 covered changes are noticed.
func (r result) efficacy() float64 { return share(r.killed, r.killed+len(r.lived)) }

// coverage is how many of 100 changes are covered.
func (r result) coverage() float64 {
	covered := r.killed + len(r.lived)
	return share(covered, covered+len(r.notCovered))
}

func (r result) good() bool {
	return r.efficacy() >= least && r.coverage() >= least && len(r.idle) == 0
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
