package schema

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"
)

// Cost is work, about a nanosecond of a processor core each. It is counted and not measured: the same data costs the
// same everywhere.
type Cost int64

// In is the work that a function of 256 MB does in a time: Lambda gives it that part of the core of 1,769 MB. Time
// measured on the machine at hand would make the same event good on a quick one and bad on a slow one.
func In(d time.Duration) Cost { return Cost(d) * 256 / 1769 }

// NoLimit is more than any check costs.
const NoLimit Cost = math.MaxInt64

// The costs of a check, as BenchmarkSchema_Check_worst measures them. They are high rather than low.
const (
	costDecode = 60  // a byte of JSON, into values
	costValue  = 60  // a value and a schema
	costRule   = 15  // a keyword
	costByte   = 4   // a byte that is copied or read
	costLookup = 60  // a name in a map
	costSort   = 250 // a name in its place
	costNumber = 250 // a number
	costMatch  = 200 // a pattern
	costStep   = 10  // a place of a text, and an instruction of a pattern
	costDivide = 1500
	costDigit  = 40 // a digit that is divided, or divides
	costSeen   = 4  // an item or a name that is kept in mind as evaluated
)

// run is one check. It belongs to one goroutine. Nothing in it outlives the check.
type run struct {
	left Cost

	last    numeral // the number that was read last, and its value: several keywords read the same
	decided decimal
}

// spend takes a cost from the rest. If it returns false, the check is over and its result means nothing.
func (r *run) spend(c Cost) bool {
	r.left -= c
	return r.left >= 0
}

// over reports whether the limit is passed. A mismatch that is found after that may be none.
func (r *run) over() bool { return r.left < 0 }

// decimal reads a number. It ends the check where the exponent is too long.
func (r *run) decimal(n numeral) decimal {
	if r.decided.point != nil && r.last == n {
		return r.decided
	}
	none := decimal{point: new(big.Int)}
	if !r.spend(costNumber + costByte*Cost(len(n))) {
		return none
	}
	d, ok := decimalOf(n)
	if !ok {
		r.left = -1
		return none
	}
	r.last, r.decided = n, d
	return d
}

// part is a bound of a cost: each for every byte of the data, and rate for every byte, up to most.
type part struct{ each, rate, most float64 }

func (p part) of(size int) float64 { return p.each*float64(size) + min(p.rate*float64(size), p.most) }

// times is the bound for n values. Without a bound of n, nothing is capped.
func (p part) times(n float64) part {
	if math.IsInf(n, 1) {
		return part{each: p.each + p.rate}
	}
	return part{p.each, p.rate, p.most * n}
}

// bound is the bound of a schema's cost, and the parts of its keywords in it.
type bound struct {
	part
	keywords []keywordPart
}

// keywordPart is the part of one keyword in a bound.
type keywordPart struct {
	part
	at string
}

// always is the bound of a keyword that costs as much for every byte.
func always(at string, each Cost) bound { return boundOf(at, part{each: float64(each)}) }

// capped is the bound of a keyword that costs as much for every byte, up to most.
func capped(at string, rate, most float64) bound { return boundOf(at, part{rate: rate, most: most}) }

// once is the bound of a keyword that costs this and no more.
func once(at string, cost Cost) bound { return capped(at, float64(cost), float64(cost)) }

func boundOf(at string, p part) bound { return bound{p, []keywordPart{{p, at}}} }

// and is the bound of both, on the same data. The first is used up.
func (b bound) and(c bound) bound {
	return bound{part{b.each + c.each, b.rate + c.rate, b.most + c.most}, append(b.keywords, c.keywords...)}
}

// apart is the bound of both, on different parts of the data. The first is used up.
func (b bound) apart(c bound) bound {
	return bound{part{max(b.each, c.each), max(b.rate, c.rate), b.most + c.most}, append(b.keywords, c.keywords...)}
}

// times bounds n values of the schema, such as the items of an array.
func (b bound) times(n float64) bound {
	all := bound{part: b.part.times(n)}
	for _, k := range b.keywords {
		all.keywords = append(all.keywords, keywordPart{k.times(n), k.at})
	}
	return all
}

// costliest is the keyword that costs most.
func (b bound) costliest(size int) string {
	return slices.MaxFunc(b.keywords, func(a, b keywordPart) int { return cmp.Compare(a.of(size), b.of(size)) }).at
}
