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

// decodeAttributes is the reverse of encodeAttributes. A text with a wrong length is unopenable: the seal has
// held, so another program has written it.
func decodeAttributes(b []byte) (attributes []Attribute, err error) {
	var texts []string
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, ErrUnopenable
		}
		n := uint64(binary.BigEndian.Uint32(b))
		b = b[4:]
		if n > uint64(len(b)) {
			return nil, ErrUnopenable
		}
		texts, b = append(texts, string(b[:n])), b[n:]
	}
	if len(texts)%3 != 0 {
		return nil, ErrUnopenable
	}
	for a := range slices.Chunk(texts, 3) {
		attributes = append(attributes, Attribute{Name: a[0], Type: a[1], Value: a[2]})
	}
	return attributes, nil
}
