package main

import (
	"fmt"
	"io"

	"godwit/lab/table"
	"godwit/node"
)

// printCells tells of the cells of an overlay that has divided, as their leaders sum them up.
func printCells(out io.Writer, o *node.OverlayStatus) {
	if o.Cell == "" {
		return
	}
	fmt.Fprintf(out, "cells    %d known; this node is in %s\n", len(o.Cells), o.Cell)
	for _, c := range o.Cells {
		own := ""
		if c.Own {
			own = ", this node's"
		}
		fmt.Fprintf(out, "cell     %s: %d members, %d of %d slots idle, %d tasks wait; leader %s%s\n", c.Cell,
			c.Members, c.Idle, c.Slots, c.Waiting, table.ShortPeer(c.Leader), own)
	}
}
