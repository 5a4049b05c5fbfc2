package circuit

// Allot divides a budget into equal shares; the unused part of a share goes to the others. release divides its sends
// among tenants and then among endpoints.
func Allot(budget int, wants []int) []int {
	given := make([]int, len(wants))
	open := 0
	for _, want := range wants {
		if want > 0 {
			open++
		}
	}
	for budget > 0 && open > 0 {
		share := max(budget/open, 1)
		for n := range wants {
			more := min(share, wants[n]-given[n], budget)
			if more <= 0 {
				continue
			}
			given[n] += more
			budget -= more
			if given[n] == wants[n] {
				open--
			}
		}
	}
	return given
}
