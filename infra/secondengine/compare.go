package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// compare writes where the outcomes of cases differ between moto and the second engine, and how many were compared,
// and counts those that are not as expected: everything passes on moto, and on the second engine all but the known
// differences, which fail.
func compare(out io.Writer, onMoto, onSecond results, known map[string]string) (faults int) {
	names := map[string]bool{}
	for name := range onMoto {
		names[name] = true
	}
	for name := range onSecond {
		names[name] = true
	}
	for name := range known {
		names[name] = true
	}
	same := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		moto, second, why := onMoto[name], onSecond[name], known[name]
		switch {
		case moto == "pass" && second == "pass" && why == "":
			same++
		case moto == "pass" && second == "fail" && why != "":
			fmt.Fprintf(out, "differs, as known: %s: %s\n", name, why)
		default:
			faults++
			fmt.Fprintf(out, "NOT AS EXPECTED: %s: moto %q, DynamoDB Local %q, known difference: %q\n", name, moto, second, why)
		}
	}
	fmt.Fprintf(out, "%d cases: %d pass on moto and on DynamoDB Local, %d differ as known, %d are not as expected\n",
		len(names), same, len(names)-same-faults, faults)
	return faults
}
