package pricing

import (
	"math/big"
	"math/bits"
)

// int128 is a signed integer of 128 bits, in two's complement. A rate of 13 digits times any number of tokens stays
// below 2^107, so a sum outgrows it only after millions of the largest.
type int128 struct {
	high int64
	low  uint64
}

// product is rate times n; rate is not negative.
func product(rate, n int64) int128 {
	if n >= 0 {
		high, low := bits.Mul64(uint64(rate), uint64(n))
		return int128{int64(high), low}
	}
	high, low := bits.Mul64(uint64(rate), -uint64(n))
	low, borrow := bits.Sub64(0, low, 0)
	high, _ = bits.Sub64(0, high, borrow)
	return int128{int64(high), low}
}

// plus is the sum, if 128 bits hold it.
func (w int128) plus(x int128) (sum int128, fits bool) {
	low, carry := bits.Add64(w.low, x.low, 0)
	high, _ := bits.Add64(uint64(w.high), uint64(x.high), carry)
	sum = int128{int64(high), low}
	return sum, (w.high^sum.high)&(x.high^sum.high) >= 0
}

func (w int128) big() *big.Int {
	n := big.NewInt(w.high)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.low))
}
