//go:build emulator

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
)

// functionProcesses finds the processes of a function of the stack, by the CA file in their environment.
func functionProcesses(s statefile.State, function string) ([]int, error) {
	all, err := processIDs()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(pid int) bool {
		env := readProc(pid, "environ")
		return !strings.HasSuffix(executable(pid), filepath.Join(function, "bootstrap")) ||
			!bytes.Contains(env, []byte("SSL_CERT_FILE="+s.CAFile+"\x00"))
	}), nil
}

// descendants maps every process below pid to its executable.
func descendants(pid int) (map[int]string, error) {
	all, err := processIDs()
	if err != nil {
		return nil, err
	}
	below := map[int]string{}
	for grown := true; grown; {
		grown = false
		for _, candidate := range all {
			parent := parentOf(candidate)
			if _, known := below[candidate]; known {
				continue
			}
			if _, inside := below[parent]; parent == pid || inside {
				below[candidate] = executable(candidate)
				grown = true
			}
		}
	}
	return below, nil
}

func processIDs() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var ids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			ids = append(ids, pid)
		}
	}
	return ids, nil
}

// parentOf is 0 for a process that is gone.
func parentOf(pid int) int {
	for line := range bytes.Lines(readProc(pid, "status")) {
		if value, ok := bytes.CutPrefix(line, []byte("PPid:")); ok {
			parent, _ := strconv.Atoi(string(bytes.TrimSpace(value)))
			return parent
		}
	}
	return 0
}

// executable is "" for a process that is gone.
func executable(pid int) string {
	path, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return path
}

func readProc(pid int, name string) []byte {
	raw, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name)) // empty for a process that is gone
	return raw
}
