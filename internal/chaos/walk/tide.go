package walk

// BlockBytes is how much of its memory a Tide writes at a time, and blockWords as
// many words.
const (
	BlockBytes = 4096
	blockWords = BlockBytes / 8
)

// A Tide is a walk that leaves its steps in memory, block after block, over and
// over: the program internal/chaos/tide, whose arguments these are.
type Tide struct {
	Blocks uint64 // of memory; at least 1
	Steps  uint64 // of the walk in a round
	Every  uint64 // rounds to each block that is written; at least 1
	Rounds uint64
}

// Sum returns what the program prints behind the number of its rounds: where the
// walk from start ends, and all that it left in memory, in one number.
func (t Tide) Sum(start uint64) uint64 {
	round, block := NewLeap(t.Steps), NewLeap(blockWords)
	seeds := make([]uint64, t.Blocks) // of what is in each block in the end
	x := max(start, 1)
	for b := range seeds {
		seeds[b], x = x, block.From(x)
	}
	for r := range t.Rounds {
		x = round.From(x)
		if r%t.Every == 0 {
			seeds[r/t.Every%t.Blocks], x = x, block.From(x)
		}
	}
	for _, word := range seeds {
		for range blockWords {
			word = step(word)
			x = step(x ^ word)
		}
	}
	return x
}
