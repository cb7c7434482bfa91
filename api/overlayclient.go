package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"godwit/node"
	"godwit/scheduler"
	"godwit/task"
)

// Overlays lists the overlays that the node serves, by name.
func (c *Client) Overlays(ctx context.Context) (o []node.OverlayStatus, err error) {
	return o, c.get(ctx, "/v1/overlays", nil, &o)
}

// Overlay returns the overlay that ref names: its name, its ID, or enough of the
// ID's end or beginning to be unique.
func (c *Client) Overlay(ctx context.Context, ref string) (d node.OverlayDetail, err error) {
	return d, c.get(ctx, overlayPath(ref, ""), nil, &d)
}

// CreateOverlay founds an overlay with the node's key; the node is its first
// member.
func (c *Client) CreateOverlay(ctx context.Context, r node.OverlayRules) (d node.OverlayDetail, err error) {
	return d, c.send(ctx, http.MethodPost, "/v1/overlays", r, &d)
}

// ChangeOverlay replaces the rules of an overlay that the node founded by a new
// version. Every member follows it.
func (c *Client) ChangeOverlay(ctx context.Context, ref string, r node.OverlayRules) (d node.OverlayDetail, err error) {
	return d, c.send(ctx, http.MethodPut, overlayPath(ref, ""), r, &d)
}

// JoinOverlay makes the node a member of an overlay: a name, an ID or a ticket.
// Share is that overlay's part of the machine, over the sum of all shares there;
// 0 is 1.
func (c *Client) JoinOverlay(ctx context.Context, overlay string, share float64) (d node.OverlayDetail, err error) {
	return d, c.send(ctx, http.MethodPost, "/v1/overlays/join", JoinRequest{Overlay: overlay, Share: share}, &d)
}

// LeaveOverlay ends the node's membership, and returns the overlay's ID.
func (c *Client) LeaveOverlay(ctx context.Context, ref string) (task.CID, error) {
	var reply OverlayReply
	err := c.call(ctx, http.MethodDelete, overlayPath(ref, ""), nil, &reply)
	return reply.ID, err
}

// Scheduling returns how the overlay's leader schedules now.
func (c *Client) Scheduling(ctx context.Context, ref string) (s scheduler.Scheduling, err error) {
	return s, c.get(ctx, overlayPath(ref, "/scheduling"), nil, &s)
}

// Invite returns a ticket of an overlay that the node founded. Whoever holds it
// can join for that long.
func (c *Client) Invite(ctx context.Context, ref string, life time.Duration) (string, error) {
	var reply InviteReply
	err := c.send(ctx, http.MethodPost, overlayPath(ref, "/invite"), InviteRequest{Life: life.Seconds()}, &reply)
	return reply.Ticket, err
}

// overlayPath escapes dots too: a reference "." or ".." is not a way up.
func overlayPath(ref, rest string) string {
	return "/v1/overlays/" + strings.ReplaceAll(url.PathEscape(ref), ".", "%2E") + rest
}

// send is call with a body in JSON.
func (c *Client) send(ctx context.Context, method, path string, in, out any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	return c.call(ctx, method, path, bytes.NewReader(b), out)
}
