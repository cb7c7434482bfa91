package swarm

import (
	"iter"
	"time"
)

// links are a node's connections with each other node. A node of many knows few of them, and those that know all
// ask at each message: so they are in pages.
type links struct{ pages []*[linkPage]link }

// A link is with one other node.
type link struct {
	life  int           // of the other, with which there is a connection; 0 for none
	heard time.Duration // when the last message gets there
}

// linkPage is how many links are made at once: 1 KiB.
const linkPage = 64

// with returns the link with a node, made if need be.
func (l *links) with(o *node) *link {
	page, k := o.index/linkPage, o.index%linkPage
	if page >= len(l.pages) {
		l.pages = append(l.pages, make([]*[linkPage]link, page+1-len(l.pages))...)
	}
	p := l.pages[page]
	if p == nil {
		p = new([linkPage]link)
		l.pages[page] = p
	}
	return &p[k]
}

// linked is the life of a node with which there is a connection; 0 for none.
func (l *links) linked(o *node) int {
	page, k := o.index/linkPage, o.index%linkPage
	if page >= len(l.pages) || l.pages[page] == nil {
		return 0
	}
	return l.pages[page][k].life
}

// cutAll ends all connections.
func (l *links) cutAll() {
	for _, p := range l.pages {
		if p == nil {
			continue
		}
		for k := range p {
			p[k].life = 0
		}
	}
}

// neighbours are the indices of the nodes with which there is a connection, in order.
func (l *links) neighbours() iter.Seq[int] {
	return func(yield func(int) bool) {
		for page, p := range l.pages {
			if p == nil {
				continue
			}
			for k := range p {
				if p[k].life != 0 && !yield(page*linkPage+k) {
					return
				}
			}
		}
	}
}
