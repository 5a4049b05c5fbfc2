package signature

import "math"

// The least variety, in bits, of a key's bytes and of the steps between them. Of 16 hexadecimal digits, the least
// random of all secrets in use, fewer than four in a billion have less; of 20 or more, or of Base64, none will ever be
// met.
const (
	minBits     = 24
	minStepBits = 16
)

// weak reports whether a key repeats itself, has few different bytes, or counts. It says nothing of words.
func weak(key string) bool {
	steps := make([]byte, len(key)-1)
	for i := range steps {
		steps[i] = key[i+1] - key[i]
	}
	return repeats(key) || variety([]byte(key)) < minBits || variety(steps) < minStepBits
}

// repeats reports whether the key goes on as it began before its half.
func repeats(key string) bool {
	for period := 1; period <= len(key)/2; period++ {
		if key[period:] == key[:len(key)-period] {
			return true
		}
	}
	return false
}

// variety is the length of a text in bits, if each byte is written by how often it comes (Shannon's entropy): 0 for one
// byte repeated.
func variety(text []byte) (bits float64) {
	var times [256]float64
	for _, b := range text {
		times[b]++
	}
	for _, n := range times {
		if n > 0 {
			bits += n * math.Log2(float64(len(text))/n)
		}
	}
	return bits
}
