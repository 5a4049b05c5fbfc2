package console

// row is one object of an answer, or the answer.
type row = map[string]any

// Rows are the objects of a list.
func Rows(list row) (rows []row) {
	data, _ := list["data"].([]any)
	for _, r := range data {
		if r, ok := r.(row); ok {
			rows = append(rows, r)
		}
	}
	return rows
}
