package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// attempt has the acts of a sender in one case.
type attempt struct {
	Statuses []int         // that it took, one for each POST; 0: none
	Took     time.Duration // of all POSTs together
	Hung     bool          // it was not back in time, and was ended
	Memory   int64         // bytes at most of its process, beyond the cost of a receiver that behaves
	Silent   int           // POSTs of which it told nothing, although it ended by itself
	Ended    string        // how it ended
}

// result is a case with the acts of the sender and the findings about them.
type result struct {
	hosted
	attempt
	Findings []finding
}

// play runs the sender for each case.
func (k *kit) play(ctx context.Context, command string, o options) ([]result, error) {
	words := strings.Fields(command)
	if !slices.Contains(words, "{urls}") && !strings.Contains(command, "{url}") {
		return nil, errors.New("the command of the sender needs {urls}, the URL once for each POST, or {url} and {posts}")
	}
	plain := receivers.Case{Name: "behaves", Want: []receivers.Outcome{{Status: 200}, {Status: 200}}}
	base, err := k.run(ctx, words, hosted{plain, receivers.Target{URL: k.fine}}, o.within)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(base.Statuses, []int{200, 200}) {
		return nil, fmt.Errorf("the sender took %v from a receiver that behaves, want [200 200]: does it trust %s, "+
			"and print one status a line?", base.Statuses, k.authority)
	}
	results := make([]result, len(k.cases))
	failures := make([]error, len(k.cases))
	next := make(chan int)
	var workers sync.WaitGroup
	for range o.parallel {
		workers.Go(func() {
			for i := range next {
				done, err := k.run(ctx, words, k.cases[i], o.within)
				done.Memory = max(done.Memory-base.Memory, 0)
				results[i], failures[i] = result{k.cases[i], done, judge(k.cases[i], done)}, err
			}
		})
	}
	for i := range k.cases {
		next <- i
	}
	close(next)
	workers.Wait()
	return results, errors.Join(ctx.Err(), errors.Join(failures...))
}

// run runs the sender for one case.
func (k *kit) run(ctx context.Context, words []string, c hosted, within time.Duration) (attempt, error) {
	argv := k.filled(words, c)
	within *= time.Duration(len(c.Want))
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var out, complaints opening
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the developer names the sender
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = time.Second
	together(cmd)
	started := time.Now()
	err := cmd.Run()
	took, told := statuses(out.String(), len(c.Want))
	done := attempt{Statuses: took, Took: time.Since(started)}
	if cmd.ProcessState == nil {
		return done, fmt.Errorf("starting the sender: %w", err)
	}
	done.Hung = errors.Is(ctx.Err(), context.DeadlineExceeded)
	done.Memory = most(cmd.ProcessState)
	if ctx.Err() == nil {
		done.Silent, done.Ended = len(c.Want)-told, cmd.ProcessState.String()
	}
	if c.Name == "behaves" && complaints.Len() > 0 {
		return done, fmt.Errorf("the sender complained: %s", complaints.String())
	}
	return done, nil // a sender may end with an error where it took no status
}

// opening keeps the beginning of what is written to it. A sender may print the answers, which have no end.
type opening struct{ bytes.Buffer }

// kept is enough for the statuses of all POSTs of a case.
const kept = 64 << 10

// Write takes everything and fails never.
func (o *opening) Write(p []byte) (int, error) {
	_, err := o.Buffer.Write(p[:min(len(p), kept-o.Len())])
	return len(p), err
}

// filled is the command with the values of a case.
func (k *kit) filled(words []string, c hosted) (argv []string) {
	pause := strconv.FormatFloat(cmp.Or(c.Pause, 300*time.Millisecond).Seconds(), 'f', -1, 64)
	for _, word := range words {
		if word == "{urls}" {
			argv = append(argv, slices.Repeat([]string{c.URL}, len(c.Want))...)
			continue
		}
		argv = append(argv, strings.NewReplacer("{ca}", k.authority, "{pause}", pause, "{url}", c.URL,
			"{posts}", strconv.Itoa(len(c.Want))).Replace(word))
	}
	return argv
}

// statuses reads n lines of a sender's output, and says how many there were. A line that is missing, or that is no
// status, is none.
func statuses(out string, n int) (all []int, told int) {
	all = make([]int, n)
	for line := range strings.Lines(out) {
		if told == n {
			break
		}
		if status, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && status >= 100 {
			all[told] = status
		}
		told++
	}
	return all, told
}
