package schema

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// numeral is a number as JSON writes it.
type numeral string

// decimal is the exact value of a numeral: 0.digits × 10^point. Zero has no digits.
type decimal struct {
	negative bool
	digits   string // without zeros at either end
	point    *big.Int
}

// maxExponent is the most digits of an exponent that is read. To read a longer one takes more than linear work.
const maxExponent = 1000

// decimalOf reads a numeral. It multiplies nothing out: 1e1000000000 costs no more than 1. ok is false where the
// exponent is too long. The work is linear in the text, except for the exponent, which maxExponent bounds.
func decimalOf(n numeral) (d decimal, ok bool) {
	text, negative := strings.CutPrefix(string(n), "-")
	mantissa, exponent := text, ""
	// CONDITIONALS_BOUNDARY: no number of JSON begins with its exponent.
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], strings.TrimPrefix(text[e+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits := strings.TrimLeft(all, "0")
	point := int64(len(whole) - (len(all) - len(digits)))
	d = decimal{negative: negative, digits: strings.TrimRight(digits, "0"), point: big.NewInt(point)}
	// 0, -0 and 0e999 are one number, and so have one form.
	if d.digits == "" {
		return decimal{point: new(big.Int)}, true
	}
	if exponent == "" {
		return d, true
	}
	minus := strings.HasPrefix(exponent, "-")
	exponent = strings.TrimLeft(strings.TrimPrefix(exponent, "-"), "0")
	if len(exponent) > maxExponent {
		return decimal{}, false
	}
	shift, _ := new(big.Int).SetString("0"+exponent, 10)
	if minus {
		shift.Neg(shift)
	}
	d.point.Add(d.point, shift)
	return d, true
}

// sign is -1, 0 or 1.
func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare is -1, 0 or 1. Digits have no zeros at either end. So if the points are equal, the order of the digits as
// texts is the order of the numbers.
func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.sign() == 0 {
		return c
	}
	c := cmp.Or(d.point.Cmp(e.point), strings.Compare(d.digits, e.digits))
	// ARITHMETIC_BASE: the sign is 1 or -1, since zero was answered before.
	return c * d.sign()
}

// whole reports whether there is no fraction.
func (d decimal) whole() bool {
	return d.point.Cmp(big.NewInt(int64(len(d.digits)))) >= 0 || d.digits == ""
}

// append writes a text that equal numbers share, and others do not. The semicolon ends it: the next text of a list
// begins anew.
func (d decimal) append(to []byte) []byte {
	if d.negative {
		to = append(to, '-')
	}
	to = append(to, d.digits...)
	to = append(to, 'e')
	return append(d.point.Append(to, 10), ';')
}

// divisor is a number that others may be multiples of.
type divisor struct {
	digits *big.Int // the number is digits × 10^scale
	scale  *big.Int
}

// divisorOf returns a positive number as a divisor.
func divisorOf(d decimal) divisor {
	digits, _ := new(big.Int).SetString(d.digits, 10)
	return divisor{digits, new(big.Int).Sub(d.point, big.NewInt(int64(len(d.digits))))}
}

// chunk is how many digits are divided at once: they fit in an int64.
const chunk = 18

// divides reports whether d is a whole multiple: whether its digits, and the zeros that follow them at the divisor's
// scale, have no rest. They are divided in chunks, as by hand, and no power of ten is multiplied out.
func (by divisor) divides(d decimal) bool {
	if d.digits == "" {
		return true
	}
	zeros := new(big.Int).Sub(d.point, big.NewInt(int64(len(d.digits))))
	zeros.Sub(zeros, by.scale)
	if zeros.Sign() < 0 {
		return false // the digits do not end in a zero, so tenths remain
	}
	rest := new(big.Int)
	// CONDITIONALS_BOUNDARY: behind the last digit there is nothing to add to the rest.
	for at := 0; at < len(d.digits); at += chunk {
		next := d.digits[at:min(at+chunk, len(d.digits))]
		value, _ := strconv.ParseInt(next, 10, 64) // digits alone
		rest.Mul(rest, power(len(next)))
		rest.Add(rest, big.NewInt(value))
		rest.Mod(rest, by.digits)
	}
	// A power of ten beyond the divisor's bits has no factor more that the divisor could need.
	// CONDITIONALS_BOUNDARY: exactly as many zeros as the bound are set to their own number.
	if most := int64(by.digits.BitLen()); zeros.Cmp(big.NewInt(most)) > 0 {
		zeros.SetInt64(most)
	}
	rest.Mul(rest, power(int(zeros.Int64())))
	return rest.Mod(rest, by.digits).Sign() == 0
}

// power is 10^n.
func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
