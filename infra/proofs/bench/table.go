package main

import (
	"fmt"
	"runtime"
	"slices"
)

// printTable writes the conditions of the measurements, and a line for each row.
func printTable(rows []*row, rounds int) {
	fmt.Printf("%d cores, %s/%s, %s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Printf("Medians of %d runs. CPU is a process's user and system time for a delivery, or an event of fanout.\n\n",
		rounds)
	fmt.Printf("%-12s %6s %13s %8s %9s\n", "", "× bare", "quartiles", "CPU ms", "AWS req.")
	for _, r := range rows {
		ratios, cpus := r.ratios(), make([]float64, len(r.results))
		for i, m := range r.results {
			cpus[i] = m.cpu()
		}
		quartiles := fmt.Sprintf("%.2f-%.2f", quantile(ratios, 0.25), quantile(ratios, 0.75))
		fmt.Printf("%-12s %6.2f %13s %8.4f %9.3f\n", r.name, quantile(ratios, 0.5), quartiles, median(cpus),
			median(r.requests))
	}
}

// ratios are the sorted ratios of each run's CPU time to the bare client's right before it.
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

func median(values []float64) float64 { return quantile(slices.Sorted(slices.Values(values)), 0.5) }
