package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// measurement is the finding of one process.
type measurement struct {
	Deliveries int
	CPUSeconds float64 // user and system
}

// cpu is the CPU time of one delivery, in milliseconds.
func (m measurement) cpu() float64 { return m.CPUSeconds * 1000 / float64(m.Deliveries) }

// measure counts the CPU time of this process while do makes the workload's deliveries.
func measure(in workload, do func() error) (measurement, error) {
	runtime.GC()
	started, err := usage()
	if err != nil {
		return measurement{}, err
	}
	if err := do(); err != nil {
		return measurement{}, err
	}
	ended, err := usage()
	if err != nil {
		return measurement{}, err
	}
	return measurement{
		Deliveries: in.Batch * in.Invocations, CPUSeconds: (cpuTime(ended) - cpuTime(started)).Seconds(),
	}, nil
}

func usage() (u syscall.Rusage, err error) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return u, fmt.Errorf("reading this process's usage: %w", err)
	}
	return u, nil
}

func cpuTime(u syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }
