package deadletter

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncodeAttributes_keepsItsFormat holds the format still, as that of the seal around it.
func TestEncodeAttributes_keepsItsFormat(t *testing.T) {
	attributes := []Attribute{{"version", "String", "7"}, {"empty", "Binary", ""}}
	const want = "\x00\x00\x00\x05empty\x00\x00\x00\x06Binary\x00\x00\x00\x00" +
		"\x00\x00\x00\x07version\x00\x00\x00\x06String\x00\x00\x00\x017"
	if diff := cmp.Diff(want, string(encodeAttributes(attributes))); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	if attributes[0].Name != "version" {
		t.Error("the caller's attributes were sorted")
	}
}

func TestDecodeAttributes_returnsWhatWasEncoded(t *testing.T) {
	for name, want := range map[string][]Attribute{
		"none":                      nil,
		"one":                       {{"version", "String", "7"}},
		"an empty value at the end": {{"a", "Binary", "\x00\xff\""}, {"b", "String", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeAttributes(encodeAttributes(want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeAttributes_noticesEveryCut(t *testing.T) {
	encoded := encodeAttributes([]Attribute{{"version", "String", "7"}})
	for i := 1; i < len(encoded); i++ {
		if got, err := decodeAttributes(encoded[:i]); !errors.Is(err, ErrSealed) {
			t.Errorf("cut to %d bytes: %+v with error %v, want ErrSealed", i, got, err)
		}
	}
}

func FuzzAttributes(f *testing.F) {
	f.Add(encodeAttributes([]Attribute{{"version", "String", "7"}, {"a", "Binary", "\x00"}}))
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
