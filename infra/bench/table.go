package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// printTable writes where and with what was measured, and a line for each row.
func printTable(rows []*row, rounds int) {
	fmt.Printf("%s, %d cores, %s/%s, %s, commit %s\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), commit())
	fmt.Printf(`Medians of %d runs. A delivery of fanout is an event, of all others a POST.

  ratio         CPU time of a run over that of the bare client that ran right before it: the number to compare
  quartiles     of the ratio; range: its smallest and its largest
  CPU ms        CPU time of one delivery, user and system, in milliseconds
  bare ms       the same of the bare client
  per second    deliveries a second
  allocs        allocations on the heap for one delivery
  AWS req.      AWS requests for one delivery, without Lambda's own receive and delete
  peak MiB      the largest memory of the process, in MiB

`, rounds)
	fmt.Printf("%-28s %6s %13s %13s %8s %8s %11s %7s %9s %9s\n",
		"", "ratio", "quartiles", "range", "CPU ms", "bare ms", "per second", "allocs", "AWS req.", "peak MiB")
	for _, r := range rows {
		ratio, bare := []string{"", "", ""}, ""
		if r.paired() {
			v := r.ratios()
			ratio = []string{fmt.Sprintf("%.2f", quantile(v, 0.5)),
				fmt.Sprintf("%.2f-%.2f", quantile(v, 0.25), quantile(v, 0.75)), fmt.Sprintf("%.2f-%.2f", v[0], v[len(v)-1])}
			bare = fmt.Sprintf("%.4f", median(r.bare, measurement.cpu))
		}
		fmt.Printf("%-28s %6s %13s %13s %8.4f %8s %11.0f %7.0f %9.3f %9.0f\n", r.name, ratio[0], ratio[1], ratio[2],
			median(r.results, measurement.cpu), bare,
			median(r.results, func(m measurement) float64 { return float64(m.Deliveries) / m.Seconds }),
			median(r.results, func(m measurement) float64 { return m.Allocs / float64(m.Deliveries) }), r.requests(),
			median(r.results, func(m measurement) float64 { return float64(m.PeakRSS) / (1 << 20) }))
	}
}

// ratios are the sorted ratios of the CPU time of each run to that of the bare client right before it.
func (r *row) ratios() []float64 {
	ratios := make([]float64, len(r.results))
	for i, m := range r.results {
		ratios[i] = m.cpu() / r.bare[i].cpu()
	}
	slices.Sort(ratios)
	return ratios
}

// quantile lies between the two values nearest to it, in proportion.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

func median(all []measurement, of func(measurement) float64) float64 {
	values := make([]float64, len(all))
	for i, m := range all {
		values[i] = of(m)
	}
	slices.Sort(values)
	return quantile(values, 0.5)
}

// requests is the median of the AWS calls per delivery, warm-ups included on both sides.
func (r *row) requests() float64 {
	totals := make([]float64, len(r.calls))
	for i, calls := range r.calls {
		for _, n := range calls {
			totals[i] += float64(n)
		}
	}
	slices.Sort(totals)
	return quantile(totals, 0.5) / float64(r.load.Batch*(r.load.Invocations+warmups))
}

// processor is the name that Linux gives it.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "processor not known"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "processor not named"
}

// commit is what this checkout is at.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "not known"
	}
	return strings.TrimSpace(string(out))
}
