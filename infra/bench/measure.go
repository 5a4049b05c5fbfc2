package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"
)

// measurement is what one process found.
type measurement struct {
	Deliveries int
	Seconds    float64
	CPUSeconds float64 // user and system
	Allocs     float64 // objects
	PeakRSS    int64   // bytes
}

// cpu is the CPU time of one delivery, in milliseconds.
func (m measurement) cpu() float64 { return m.CPUSeconds * 1000 / float64(m.Deliveries) }

// measure counts the CPU time and allocations of this process while do makes the workload's
// deliveries, and writes a profile of it if asked to.
func measure(in workload, do func() error) (measurement, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if in.Profile != "" {
		file, err := os.Create(in.Profile)
		if err != nil {
			return measurement{}, fmt.Errorf("creating the profile: %w", err)
		}
		defer func() { _ = file.Close() }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return measurement{}, fmt.Errorf("profiling: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	cpu, started := cpuSeconds(), time.Now()
	if err := do(); err != nil {
		return measurement{}, err
	}
	took, spent := time.Since(started), cpuSeconds()-cpu
	runtime.ReadMemStats(&after)
	return measurement{Deliveries: in.Batch * in.Invocations, Seconds: took.Seconds(), CPUSeconds: spent,
		Allocs: float64(after.Mallocs - before.Mallocs), PeakRSS: usage().Maxrss * 1024}, nil
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail with these arguments
	}
	return u
}

func cpuSeconds() float64 {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
