//go:build !race

package invariants

const slow = false
