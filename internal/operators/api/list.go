package api

// Page is the part of a list's request that names the page.
type Page struct {
	// How many rows the page has at most: 1 to 100, and 50 if it is left out.
	Limit *int `json:"limit"`

	// The next_cursor of the page before. Left out, the page is the first. It is good for the same filters only.
	Cursor string `json:"cursor"`
}

// List is the answer of every list.
type List[T any] struct {
	Data []T `json:"data"`

	// Null after the last page.
	NextCursor *string `json:"next_cursor"`
}

// Rows are the rows of the page.
func (l List[T]) Rows() []T { return l.Data }
