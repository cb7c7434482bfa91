package walk

import "testing"

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		start uint64
		steps int
		want  uint64
	}{
		{7, 0, 7},
		{0, 0, 1},
		{1, 1, 1082269761}, // the first number of xorshift64 from 1
		{0, 1, 1082269761},
	} {
		if got := End(c.start, c.steps); got != c.want {
			t.Errorf("End(%d, %d) = %d, want %d", c.start, c.steps, got, c.want)
		}
	}
}

func TestLeap(t *testing.T) {
	for _, steps := range []int{0, 1, 2, 63, 64, 1000, 12345} {
		l := NewLeap(uint64(steps))
		for _, start := range []uint64{1, 2, 0x9c1f5ae37bd2460d, 1<<64 - 1} {
			if got, want := l.From(start), End(start, steps); got != want {
				t.Errorf("%d steps at once from %d lead to %d, one by one to %d", steps, start, got, want)
			}
		}
	}
}

// slowSum does what the program does, as it does it.
func slowSum(t Tide, start uint64) uint64 {
	x, memory := max(start, 1), make([]uint64, t.Blocks*blockWords)
	fill := func(b uint64) {
		for i := range blockWords {
			x = step(x)
			memory[b*blockWords+uint64(i)] = x
		}
	}
	for b := range t.Blocks {
		fill(b)
	}
	for r := range t.Rounds {
		x = End(x, int(t.Steps))
		if r%t.Every == 0 {
			fill(r / t.Every % t.Blocks)
		}
	}
	for _, w := range memory {
		x = step(x ^ w)
	}
	return x
}

func TestTide(t *testing.T) {
	for _, c := range []Tide{{1, 0, 1, 0}, {3, 7, 1, 10}, {5, 100, 3, 40}, {2, 9, 4, 1}} {
		for start := range uint64(3) {
			if got, want := c.Sum(start), slowSum(c, start); got != want {
				t.Errorf("%+v from %d: %016x, want %016x", c, start, got, want)
			}
		}
		less, more := c, c
		less.Steps++
		more.Rounds++
		if s := c.Sum(1); less.Sum(1) == s && c.Rounds > 0 || more.Sum(1) == s && c.Steps > 0 {
			t.Errorf("%+v: the sum does not tell the rounds", c)
		}
	}
	// What the program itself printed.
	if got, want := (Tide{Blocks: 16, Steps: 100, Every: 3, Rounds: 1000}).Sum(7),
		uint64(0x74b97ec2790735b1); got != want {
		t.Errorf("%016x, want %016x", got, want)
	}
}
