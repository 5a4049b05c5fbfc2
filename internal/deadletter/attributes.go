package deadletter

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Attribute is one SQS message attribute of a message that could not be read.
type Attribute struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// encodeAttributes writes names, types and values with their lengths and nothing else: JSON
// could double them and so outgrow the DynamoDB item.
func encodeAttributes(attributes []Attribute) []byte {
	byName := func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) }
	sorted := slices.SortedFunc(slices.Values(attributes), byName)
	var out []byte
	for _, a := range sorted {
		for _, s := range []string{a.Name, a.Type, a.Value} {
			out = appendSized(out, s)
		}
	}
	return out
}

func decodeAttributes(b []byte) ([]Attribute, error) {
	next := func() (string, bool) {
		if len(b) < 4 {
			return "", false
		}
		n := uint64(binary.BigEndian.Uint32(b))
		if b = b[4:]; n > uint64(len(b)) {
			return "", false
		}
		s := string(b[:n])
		b = b[n:]
		return s, true
	}
	var attributes []Attribute
	for len(b) > 0 {
		var a Attribute
		for _, field := range []*string{&a.Name, &a.Type, &a.Value} {
			s, ok := next()
			if !ok {
				return nil, ErrUnopenable
			}
			*field = s
		}
		attributes = append(attributes, a)
	}
	return attributes, nil
}
