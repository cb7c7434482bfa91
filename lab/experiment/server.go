package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The commands of a server in a run on real nodes.
const (
	ServerStart = "start" // end a pause, or start its node
	ServerPause = "pause" // suspend its tasks, and take no others
	ServerStop  = "stop"  // kill its node
	ServerPing  = "ping"  // ask its node for an answer
)

// ServerCommands lists the commands.
func ServerCommands() []string { return []string{ServerStart, ServerPause, ServerPing, ServerStop} }

// A ServerReply is the answer to a command.
type ServerReply struct {
	Server string  `json:"server"`
	PingMS float64 `json:"ping_ms,omitempty"` // time to the answer, of ServerPing
}

// Control carries out a command on a server of a run whose real nodes run.
func (m *Manager) Control(ctx context.Context, id, server, command string) (ServerReply, error) {
	reply := ServerReply{Server: server}
	if !slices.Contains(ServerCommands(), command) {
		return reply, fmt.Errorf("%w: %.50q is no command of a server: there are %s", ErrOptions, command,
			strings.Join(ServerCommands(), ", "))
	}
	r, status, err := m.run(ctx, id)
	if err != nil {
		return reply, err
	}
	r.mu.Lock()
	live := r.live
	r.mu.Unlock()
	if live == nil || status.State != Running {
		return reply, fmt.Errorf("%s: %w", id, ErrSimulated)
	}
	switch command {
	case ServerStart:
		err = live.Start(ctx, server)
	case ServerPause:
		err = live.Pause(ctx, server)
	case ServerStop:
		err = live.Stop(ctx, server)
	case ServerPing:
		var took time.Duration
		took, err = live.Ping(ctx, server)
		reply.PingMS = float64(took) / float64(time.Millisecond)
	}
	return reply, err
}
