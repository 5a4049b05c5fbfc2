package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// plain holds words that comments here used far more often than other projects do, and how often these use them:
// a number for 1,000 lines of comments. The rates are those of river, setec, wtf, boulder and goqite in November 2026,
// 25,600 lines together. A rate of 0 means that the word is never needed.
//
//nolint:gochecknoglobals // a table
var plain = map[string]struct {
	rate    float64
	instead string
}{
	"nobody":       {0, "no tenant, no caller, or the passive"},
	"whoever":      {0, "a caller that, an operator who"},
	"of ours":      {0, "our, internal, or the name of the thing"},
	"all the same": {0.04, "and still"},
	"meanwhile":    {0, "in the same time, or the time in question"},
	"of its own":   {0.16, "its own"},
	"but for":      {0.39, "except"},
	"beside":       {0, "next to, with, in addition to"},
	"whose":        {1.87, "a second sentence"},
	"what":         {2.89, "the noun"},
}

// overused returns a line for each of these words that occurs more often than its rate allows.
func overused(files []file) []string {
	lines := comments(files)
	var found []string
	for word, use := range plain {
		pattern := regexp.MustCompile(`(?i)\b` + word + `\b`)
		count := 0
		for _, line := range lines {
			count += len(pattern.FindAllString(line, -1))
		}
		if allowed := use.rate * float64(len(lines)) / 1000; float64(count) > allowed {
			found = append(found, fmt.Sprintf("%-12s %4d in %d lines, %.0f allowed: %s",
				word, count, len(lines), allowed, use.instead))
		}
	}
	slices.SortFunc(found, cmp.Compare[string])
	return found
}

// comments returns the lines of all comments, without directives to tools.
func comments(files []file) []string {
	var lines []string
	for _, f := range files {
		for _, group := range f.syntax.Comments {
			for line := range strings.Lines(group.Text()) {
				if text := strings.TrimSpace(line); text != "" {
					lines = append(lines, text)
				}
			}
		}
	}
	return lines
}
