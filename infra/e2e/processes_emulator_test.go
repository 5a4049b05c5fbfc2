//go:build emulator

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
)

// running is a process of this machine, and zero where it has gone.
type running struct {
	parent            int
	path, environment string
}

func processes() (map[int]running, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	all := map[int]running{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		folder, p := filepath.Join("/proc", entry.Name()), running{path: executable(pid)}
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		status, _ := os.ReadFile(filepath.Join(folder, "status"))
		_, parent, _ := strings.Cut(string(status), "\nPPid:")
		_, _ = fmt.Sscan(parent, &p.parent)
		p.environment = string(environment)
		all[pid] = p
	}
	return all, nil
}

// functionProcesses finds the processes of a function of the stack, by the CA file in their environment.
func functionProcesses(s statefile.State, function string) (ids []int, err error) {
	all, err := processes()
	for pid, p := range all {
		if strings.HasSuffix(p.path, filepath.Join(function, "bootstrap")) &&
			strings.Contains(p.environment, "SSL_CERT_FILE="+s.CAFile+"\x00") {
			ids = append(ids, pid)
		}
	}
	return ids, err
}

// descendants maps every process below pid to its executable.
func descendants(pid int) (map[int]string, error) {
	all, err := processes()
	below := map[int]string{}
	for grown := true; grown; {
		grown = false
		for candidate, p := range all {
			_, known := below[candidate]
			_, inside := below[p.parent]
			if !known && (p.parent == pid || inside) {
				below[candidate], grown = p.path, true
			}
		}
	}
	return below, err
}

// executable is "" for a process that is gone.
func executable(pid int) string {
	path, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return path
}
