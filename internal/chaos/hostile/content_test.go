package hostile

import (
	"testing"

	"godwit/task"
)

// Names of blocks are as everybody writes them, and are read again.
func TestNames(t *testing.T) {
	c := newContent()
	data := []byte("some bytes")
	n := c.put(rawCodec, data)
	if got, want := n.cid(), task.RawCID(data); got != want {
		t.Errorf("a block is called %s, want %s", got, want)
	}
	if again, err := nameFrom(n.cid()); err != nil || again != n {
		t.Errorf("%s is read as %x, %v", n.cid(), again, err)
	}
	if string(c.block(n)) != string(data) || c.given() != int64(len(data)) {
		t.Errorf("%q is given, %d bytes in all", c.block(n), c.given())
	}
}

// A bomb is few blocks, each of which has its name.
func TestBombIsSmall(t *testing.T) {
	c := newContent()
	root := c.bomb(4, 10)
	if len(c.blocks) != 5 {
		t.Errorf("a bomb of four levels has %d blocks, want 5", len(c.blocks))
	}
	if n, err := nameFrom(root); err != nil || c.block(n) == nil {
		t.Errorf("its root %s is not to be had: %v", root, err)
	}
	for n := range c.blocks {
		if nameOf(n[1], c.block(n)) != n {
			t.Errorf("block %s is not what its name says", n.cid())
		}
	}
}

// What is made when it is asked for is what its name says, and differs from leaf to leaf.
func TestBulk(t *testing.T) {
	c := newContent()
	c.bulk(200*chunk, 0, 3)
	leaves := 0
	for n := range c.blocks {
		if nameOf(n[1], c.block(n)) != n {
			t.Fatalf("block %s is not what its name says", n.cid())
		}
		if n[1] == rawCodec {
			leaves++
		}
	}
	if leaves != 200 {
		t.Errorf("%d leaves differ, want 200", leaves)
	}
}
