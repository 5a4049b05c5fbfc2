package deadletter

import (
	"errors"
	"testing"
)

func TestDecodeAttributes_noticesEveryCut(t *testing.T) {
	encoded := encodeAttributes([]Attribute{{"version", "String", "7"}})
	for i := 1; i < len(encoded); i++ {
		if got, err := decodeAttributes(encoded[:i]); !errors.Is(err, ErrUnopenable) {
			t.Errorf("cut to %d bytes: %+v with error %v, want ErrUnopenable", i, got, err)
		}
	}
}

func FuzzAttributes(f *testing.F) {
	f.Add(encodeAttributes([]Attribute{{"a", "Binary", "\x00\xff\""}, {"version", "String", ""}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		attributes, err := decodeAttributes(b)
		if err != nil {
			return
		}
		again, err := decodeAttributes(encodeAttributes(attributes))
		if err != nil || len(again) != len(attributes) {
			t.Errorf("%d attributes became %d, %v", len(attributes), len(again), err)
		}
	})
}
