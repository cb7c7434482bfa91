package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Commands for a server of a run on nodes.
const (
	ServerStart = "start" // resume a paused server, or start its node
	ServerPause = "pause" // suspend its tasks and accept no more
	ServerStop  = "stop"  // kill its node
	ServerPing  = "ping"  // measure the response time of its node
)

// ServerCommands returns all commands.
func ServerCommands() []string { return []string{ServerStart, ServerPause, ServerPing, ServerStop} }

// ServerReply is the result of a command.
type ServerReply struct {
	Server string  `json:"server"`
	PingMS float64 `json:"ping_ms,omitempty"` // response time in milliseconds, for ServerPing
}

// Control executes a command for a server. The run must be on nodes, and its nodes must have started.
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
