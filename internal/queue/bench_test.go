package queue

import "testing"

func BenchmarkDecode(b *testing.B) {
	r := received(full())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(r); err != nil {
			b.Fatal(err)
		}
	}
}
