package main

import "math/rand/v2"

const (
	maxColors = 32
	border    = 0 // color of edges on the frame
)

// A piece has the colors of its edges: top, right, bottom, left.
type piece [4]uint8

// turned returns the piece after r quarter turns clockwise.
func (p piece) turned(r int) (out piece) {
	for i := range p {
		out[(i+r)%4] = p[i]
	}
	return out
}

// A puzzle is a square of pieces that fit in at least one way.
type puzzle struct {
	size   int
	pieces []piece
	fits   [maxColors + 1][maxColors + 1][]placed // by the colors of the top and the left edge
}

// A placed is a piece with its turns.
type placed struct {
	number uint16
	turns  uint8
	is     piece
}

// newPuzzle colors the inner edges of a square at random, cuts the square into pieces, and shuffles and turns them.
func newPuzzle(size, colors int, seed uint64) *puzzle {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &puzzle{size: size, pieces: make([]piece, size*size)}
	for i := range p.pieces {
		if x := i % size; x > 0 {
			p.pieces[i][3] = p.pieces[i-1][1]
		}
		if i >= size {
			p.pieces[i][0] = p.pieces[i-size][2]
		}
		if i%size < size-1 {
			p.pieces[i][1] = uint8(1 + rng.IntN(colors))
		}
		if i < size*(size-1) {
			p.pieces[i][2] = uint8(1 + rng.IntN(colors))
		}
	}
	rng.Shuffle(len(p.pieces), func(i, j int) { p.pieces[i], p.pieces[j] = p.pieces[j], p.pieces[i] })
	for i := range p.pieces {
		p.pieces[i] = p.pieces[i].turned(rng.IntN(4))
	}
	p.index()
	return p
}

// index lists the pieces by their top and left edges, in all distinct turns.
func (p *puzzle) index() {
	for number, one := range p.pieces {
		seen := map[piece]bool{}
		for r := range 4 {
			if is := one.turned(r); !seen[is] {
				seen[is] = true
				list := &p.fits[is[0]][is[3]]
				*list = append(*list, placed{uint16(number), uint8(r), is})
			}
		}
	}
}
