package message

import (
	"fmt"

	"godwit/scheduler/ledger"
)

// MaxHave bounds the ranges by which a client says what it has.
const MaxHave = 1 << 16

// Without returns the indices of held that are not in have, which anybody may have written: its error says
// that it is no set.
func Without(held, have []Range) ([]Range, error) {
	if len(have) > MaxHave {
		return nil, fmt.Errorf("%d ranges, the most is %d", len(have), MaxHave)
	}
	has, err := ledger.MakeSet(have)
	if err != nil {
		return nil, err
	}
	return ledger.Set(held).Minus(has), nil
}
