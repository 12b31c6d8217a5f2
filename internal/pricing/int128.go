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
func (n int128) plus(m int128) (sum int128, fits bool) {
	low, carry := bits.Add64(n.low, m.low, 0)
	high, _ := bits.Add64(uint64(n.high), uint64(m.high), carry)
	sum = int128{int64(high), low}
	return sum, (n.high^sum.high)&(m.high^sum.high) >= 0
}

func (n int128) big() *big.Int {
	high := big.NewInt(n.high)
	return high.Lsh(high, 64).Add(high, new(big.Int).SetUint64(n.low))
}
