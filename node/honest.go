//go:build !liars

package node

import (
	"godwit/scheduler/message"
	"godwit/task"
)

// sent is what a machine's message becomes on its way out, and whether it goes: as it is.
func sent(_ task.PeerID, s message.Send) (message.Send, bool) { return s, true }

// heard is what a message becomes that came in: as it is.
func heard(_ task.PeerID, m *message.Message) *message.Message { return m }
