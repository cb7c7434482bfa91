package main

import (
	"fmt"
	"strings"
	"testing"
)

// verify checks that the pieces of a position lie side by side with equal colors, each at most once.
func verify(t *testing.T, p *puzzle, at position) {
	t.Helper()
	words := strings.Fields(at.Board)
	if len(words) != at.Depth || at.Pieces != len(p.pieces) || at.Solved != (at.Depth == at.Pieces) {
		t.Fatalf("%d words in %+v", len(words), at)
	}
	var board []piece
	used := map[int]bool{}
	for i, word := range words {
		var number, turns int
		if _, err := fmt.Sscanf(word, "%d.%d", &number, &turns); err != nil || used[number] {
			t.Fatalf("%q: %v, used before: %v", word, err, used[number])
		}
		used[number] = true
		is := p.pieces[number].turned(turns)
		top, left := uint8(border), uint8(border)
		if i >= p.size {
			top = board[i-p.size][2]
		}
		if i%p.size > 0 {
			left = board[i-1][1]
		}
		lastColumn, lastRow := i%p.size == p.size-1, i >= p.size*(p.size-1)
		if is[0] != top || is[3] != left || (is[1] == border) != lastColumn || (is[2] == border) != lastRow {
			t.Fatalf("piece %q does not fit at place %d", word, i)
		}
		board = append(board, is)
	}
}

func TestWalkSolvesSmallPuzzles(t *testing.T) {
	for seed := range uint64(20) {
		o := options{size: 4, colors: 4, puzzle: seed, seed: seed, steps: 1e6}
		p, err := o.check()
		if err != nil {
			t.Fatal(err)
		}
		at := p.walk(&o)
		verify(t, p, at)
		if !at.Solved {
			t.Errorf("puzzle %d is not solved: %+v", seed, at)
		}
	}
}

func TestWalksFollowFromTheirSeeds(t *testing.T) {
	for _, patience := range []int64{0, 1, 1000} {
		o := options{size: 8, colors: 8, puzzle: 1, seed: 7, steps: 20_000, patience: patience}
		p, err := o.check()
		if err != nil {
			t.Fatal(err)
		}
		first := p.walk(&o)
		verify(t, p, first)
		if again := newPuzzle(8, 8, 1).walk(&o); again != first {
			t.Errorf("the same walk ends at %+v and %+v", first, again)
		}
		o.seed++
		if other := p.walk(&o); other.Board == first.Board {
			t.Errorf("walks with two seeds end at the same position %q", other.Board)
		}
		if first.Depth < 8 || first.Steps != o.steps || patience == 1 && first.DeadEnds < 100 {
			t.Errorf("patience %d: %+v", patience, first)
		}
	}
}

// A puzzle with a piece that fits nowhere has no solution, and the walk ends when it has seen every position.
func TestWalkEndsWithoutSolution(t *testing.T) {
	p := newPuzzle(3, 2, 1)
	for i := range p.pieces {
		if inner := p.pieces[i]; inner[0]*inner[1]*inner[2]*inner[3] != border {
			p.pieces[i] = piece{9, 9, 9, 9}
		}
	}
	p.fits = [maxColors + 1][maxColors + 1][]placed{}
	p.index()
	at := p.walk(&options{seed: 1, steps: 1e6})
	verify(t, p, at)
	if at.Solved || at.Steps == 1e6 {
		t.Errorf("%+v", at)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []options{{size: 1, colors: 1, steps: 1}, {size: 8, colors: 33, steps: 1}, {size: 8, colors: 8},
		{size: 8, colors: 8, steps: 1, patience: -1}} {
		if _, err := o.check(); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
