package main

import (
	"fmt"
	"runtime"
	"slices"
)

// printTable writes the conditions of the measurements, and a line for each row.
func printTable(rows []*row, rounds int) {
	fmt.Printf("%d cores, %s/%s, %s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Printf("Medians of %d runs; infra/docs/benchmark.md explains them.\n\n", rounds)
	fmt.Printf("%-28s %6s %13s %8s %9s %9s\n", "", "× bare", "quartiles", "CPU ms", "AWS req.", "peak MiB")
	for _, r := range rows {
		var ratio, quartiles string
		if !r.unpaired {
			v := r.ratios()
			ratio = fmt.Sprintf("%.2f", quantile(v, 0.5))
			quartiles = fmt.Sprintf("%.2f-%.2f", quantile(v, 0.25), quantile(v, 0.75))
		}
		fmt.Printf("%-28s %6s %13s %8.4f %9.3f %9.0f\n", r.name, ratio, quartiles, median(r.results, measurement.cpu),
			quantile(slices.Sorted(slices.Values(r.requests)), 0.5),
			median(r.results, func(m measurement) float64 { return float64(m.PeakRSS) / (1 << 20) }))
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

func median(all []measurement, of func(measurement) float64) float64 {
	values := make([]float64, len(all))
	for i, m := range all {
		values[i] = of(m)
	}
	slices.Sort(values)
	return quantile(values, 0.5)
}
