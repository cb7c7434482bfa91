package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A position is the deepest one of a walk.
type position struct {
	Depth    int    `json:"depth"`  // number of pieces that lie
	Pieces   int    `json:"pieces"` // of the puzzle
	Solved   bool   `json:"solved"`
	Steps    int64  `json:"steps"`    // number of pieces that were laid
	DeadEnds int64  `json:"deadends"` // number of positions that had no other piece to try
	Board    string `json:"board"`    // numbers of the pieces, row by row, each with its quarter turns
}

// A walker lays pieces row by row. In each place it tries the fitting pieces in an order of its own, and takes the last
// piece up again if none is left.
type walker struct {
	p     *puzzle
	board []placed
	used  []bool
	tried []int // by place, the number of candidates that were tried
	best  position
	fits  [maxColors + 1][maxColors + 1][]placed // in the walk's order
}

// walk returns the deepest position of a walk. It ends with a solution, after a number of steps, or if there is no other
// position.
func (p *puzzle) walk(o *options) position {
	rng := rand.New(rand.NewPCG(o.seed, 1))
	w := &walker{p: p, used: make([]bool, len(p.pieces)), tried: make([]int, len(p.pieces)+1)}
	w.best.Pieces = len(p.pieces)
	w.shuffle(rng)
	begun := int64(0) // dead ends when the walk last began
	for w.best.Steps < o.steps {
		if w.lay() {
			w.best.Steps++
			if len(w.board) > w.best.Depth {
				w.note()
			}
			if w.best.Solved {
				break
			}
			continue
		}
		w.best.DeadEnds++
		switch {
		case o.patience > 0 && w.best.DeadEnds-begun >= o.patience:
			begun = w.best.DeadEnds
			w.board, w.tried[0] = w.board[:0], 0
			clear(w.used)
			w.shuffle(rng)
		case len(w.board) == 0:
			return w.best
		default:
			w.takeUp()
		}
	}
	return w.best
}

// shuffle draws the order in which fitting pieces are tried.
func (w *walker) shuffle(rng *rand.Rand) {
	for top := range w.p.fits {
		for left := range w.p.fits[top] {
			list := append(w.fits[top][left][:0], w.p.fits[top][left]...)
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			w.fits[top][left] = list
		}
	}
}

// lay lays the next piece that fits, and reports whether there is one.
func (w *walker) lay() bool {
	at, size := len(w.board), w.p.size
	top, left := uint8(border), uint8(border)
	if at >= size {
		top = w.board[at-size].is[2]
	}
	x := at % size
	if x > 0 {
		left = w.board[at-1].is[1]
	}
	list := w.fits[top][left]
	for k := w.tried[at]; k < len(list); k++ {
		c := &list[k]
		if w.used[c.number] || (c.is[1] == border) != (x == size-1) || (c.is[2] == border) != (at >= size*(size-1)) {
			continue
		}
		w.tried[at], w.tried[at+1] = k+1, 0
		w.used[c.number] = true
		w.board = append(w.board, *c)
		return true
	}
	return false
}

// takeUp takes the last piece up again.
func (w *walker) takeUp() {
	last := len(w.board) - 1
	w.used[w.board[last].number] = false
	w.board = w.board[:last]
}

// note keeps the present position as the deepest.
func (w *walker) note() {
	words := make([]string, len(w.board))
	for i := range w.board {
		words[i] = fmt.Sprintf("%d.%d", w.board[i].number, w.board[i].turns)
	}
	w.best.Depth, w.best.Board = len(w.board), strings.Join(words, " ")
	w.best.Solved = len(w.board) == len(w.p.pieces)
}
