package overlay

import "strings"

// What the version of a program ends with that knows of cells, and that reads results which their worker signed
// together with others, as build metadata does. Fields of their own would have nodes of before refuse the whole advert.
// The first is the last of both, where nodes of before look for it.
const (
	cellsMark    = "+cells"
	togetherMark = "+together"
)

// KnowsCells reports whether who issued the advert says that it knows of cells.
func (a *Advert) KnowsCells() bool { return a.Bits > 0 || strings.HasSuffix(a.Version, cellsMark) }

// ReadsTogether reports whether who issued the advert says that it reads results that were signed together.
func (a *Advert) ReadsTogether() bool {
	return strings.HasSuffix(strings.TrimSuffix(a.Version, cellsMark), togetherMark)
}

// Program is the version of the program that issued the advert, without either.
func (a *Advert) Program() string {
	return strings.TrimSuffix(strings.TrimSuffix(a.Version, cellsMark), togetherMark)
}

// MarkTogether has the advert say that, if its version has room. It is called before MarkCells.
func (a *Advert) MarkTogether() {
	if !a.ReadsTogether() && len(a.Version)+len(togetherMark) <= MaxVersion {
		a.Version += togetherMark
	}
}

// MarkCells has the advert say so, if its version has room. It is called before Sign.
func (a *Advert) MarkCells() {
	if !a.KnowsCells() && len(a.Version)+len(cellsMark) <= MaxVersion {
		a.Version += cellsMark
	}
}
