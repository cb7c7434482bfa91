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
