package corpus

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// An rng is the only source of chance here. It is seeded by the options, so the
// same options always make the same bytes.
type rng struct{ pcg rand.PCG }

func newRNG(seed, stream uint64) *rng {
	r := &rng{}
	r.seed(seed, stream)
	return r
}

func (r *rng) seed(seed, stream uint64) { r.pcg.Seed(mix(seed, stream), mix(stream, ^seed)) }

// mix joins two numbers into one whose bits depend on all of theirs (the
// finalizer of splitmix64), so that neighboring seeds give unrelated streams.
func mix(a, b uint64) uint64 {
	x := a + b*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func (r *rng) u64() uint64 { return r.pcg.Uint64() }

// n returns a number in [0, n); n must be positive.
func (r *rng) n(n int) int {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.n(hi-lo+1) }

// permille is true in p of 1,000 cases.
func (r *rng) permille(p int) bool { return r.n(1000) < p }

// unit returns a number in (0, 1].
func (r *rng) unit() float64 { return float64(r.pcg.Uint64()>>11+1) / (1 << 53) }

// lognormal returns a number whose logarithm is normal, around median.
func (r *rng) lognormal(median, sigma float64) float64 {
	z := math.Sqrt(-2*math.Log(r.unit())) * math.Cos(2*math.Pi*r.unit())
	return median * math.Exp(sigma*z)
}

// logUniform returns a number in [lo, hi] whose logarithm is uniform.
func (r *rng) logUniform(lo, hi float64) float64 {
	return lo * math.Exp(r.unit()*math.Log(hi/lo))
}

// zipfSlots is how finely a zipf table cuts its distribution. Ranks rarer than
// one slot are drawn from the tail, uniformly.
const zipfSlots = 1 << 13

// A zipf draws ranks with a probability that falls as 1/(rank+flat).
type zipf struct {
	slots []uint32
	ranks int
	// tail is how many of 1,000 draws take any rank at all, so that the rarest
	// words occur too.
	tail int
}

func newZipf(ranks int, flat float64, tail int) *zipf {
	z := &zipf{slots: make([]uint32, zipfSlots), ranks: ranks, tail: tail}
	var total float64
	for i := range ranks {
		total += 1 / (float64(i) + flat)
	}
	rank, reached := 0, 1/flat
	for i := range z.slots {
		at := (float64(i) + 0.5) / zipfSlots * total
		for reached < at && rank < ranks-1 {
			rank++
			reached += 1 / (float64(rank) + flat)
		}
		z.slots[i] = uint32(rank)
	}
	return z
}

func (z *zipf) rank(r *rng) int {
	x := r.u64()
	if int(x>>54)*1000>>10 < z.tail {
		hi, _ := bits.Mul64(x<<10, uint64(z.ranks))
		return int(hi)
	}
	return int(z.slots[x&(zipfSlots-1)])
}
