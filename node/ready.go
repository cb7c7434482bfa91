package node

import (
	"context"
	"fmt"
)

// Alive returns nil once the loop has answered, and why it does not when ctx ends before.
func (n *Node) Alive(ctx context.Context) error {
	if err := n.do(ctx, func() {}); err != nil {
		return fmt.Errorf("the node's loop does not answer: %w", err)
	}
	return nil
}

// NotReady says what keeps the node from taking in a job of its owner's now, one thing each; nothing
// for a node that is ready. That its owner lends nothing for now is no such thing. The error is as of Alive.
func (n *Node) NotReady(ctx context.Context) (why []string, err error) {
	err = n.look(ctx, func() {
		if n.full {
			why = append(why, fullReason)
		}
		all := n.ordered()
		if len(all) == 0 {
			why = append(why, "the node serves no overlay")
		}
		for _, m := range all {
			name := m.Manifest().Name
			if err := m.Manifest().Admits(n.self, m.Pass(), n.clock.wall()); err != nil {
				why = append(why, err.Error())
			} else if m.Leader().Leader == "" {
				why = append(why, fmt.Sprintf("no coordinator of %s is known", name))
			}
		}
	})
	if err != nil {
		err = fmt.Errorf("the node's loop does not answer: %w", err)
	}
	return why, err
}
