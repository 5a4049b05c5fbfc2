// Package answers has the answers of the operator functions: their fields as this tool knows them, their bytes as they
// came, and both in words.
//
// It knows no function and no screen. The command line and the console show answers with it, so that both say the same.
package answers

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Answer is an answer: Fields are what this tool decides by and prints. JSON is the answer as it came, with fields that
// a newer stack has and this tool does not know. A field that an older stack does not have is zero.
type Answer[A any] struct {
	Fields A
	JSON   jsontext.Value
}

// Read reads an answer.
func Read[A any](answer jsontext.Value) (read Answer[A], err error) {
	read.JSON = answer
	if err := json.Unmarshal(answer, &read.Fields); err != nil {
		return read, fmt.Errorf("reading an answer: %w", err)
	}
	return read, nil
}

// List is a list of one page or several. JSON has all its rows as they came, and everything else of the last page.
type List[R any] struct {
	Data       []R
	Raw        []jsontext.Value // the rows as they came
	NextCursor *string          // nil after the last page
	Note       string
	JSON       jsontext.Value
}

// Page is a page of any list. Its rows are not read yet.
type Page struct {
	api.List[jsontext.Value] `json:",embed"`

	Note string `json:"note,omitzero"`

	// The fields that this tool does not know.
	Others jsontext.Value `json:",embed"`
}

// Listed reads the rows of a page.
func Listed[R any](page Page) (list List[R], err error) {
	list = List[R]{Raw: page.Data, NextCursor: page.NextCursor, Note: page.Note}
	list.JSON, err = json.Marshal(page)
	if err != nil {
		return list, fmt.Errorf("writing a list: %w", err)
	}
	list.Data = make([]R, len(page.Data))
	for n, row := range page.Data {
		if err := json.Unmarshal(row, &list.Data[n]); err != nil {
			return list, fmt.Errorf("reading a row: %w", err)
		}
	}
	return list, nil
}

// ListOf is a list of one page.
func ListOf[R any](answer jsontext.Value) (List[R], error) {
	page, err := Read[Page](answer)
	if err != nil {
		return List[R]{}, err
	}
	return Listed[R](page.Fields)
}
