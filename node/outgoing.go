package node

import (
	"encoding/binary"
	"errors"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// outgoing gathers the messages of one flush by peer and overlay, in the order
// of each.
type outgoing struct {
	lines []line
	to    map[line][]message.Message
	own   []ownMessage
}

// A line is where frames go: a peer, in an overlay.
type line struct {
	peer task.PeerID
	of   *membership
}

// An ownMessage is one from a machine of this node to its others.
type ownMessage struct {
	to      *membership
	message message.Message
}

func (o *outgoing) add(self task.PeerID, of *membership, s message.Send) {
	if s.To == self {
		o.own = append(o.own, ownMessage{of, s.Message})
		return
	}
	if o.to == nil {
		o.to = map[line][]message.Message{}
	}
	l := line{s.To, of}
	if _, ok := o.to[l]; !ok {
		o.lines = append(o.lines, l)
	}
	o.to[l] = append(o.to[l], s.Message)
}

// sendAll hands each peer its messages of this flush, as few frames as hold them.
func (d *driver) sendAll(out *outgoing) {
	for _, l := range out.lines {
		frames, err := d.packer.Frames(address(l.of.id, nil), out.to[l])
		if err != nil {
			d.log.Error("encoding messages", "peer", l.peer, "err", err)
		}
		for _, f := range frames {
			if err := d.net.Send(l.peer, f); err != nil {
				d.log.Debug("message not sent; it will be repeated", "peer", l.peer, "err", err)
			}
		}
	}
}

// address puts before a frame which overlay it is of.
func address(id overlay.ID, frame []byte) []byte {
	out := make([]byte, 0, binary.MaxVarintLen16+len(id)+len(frame))
	out = binary.AppendUvarint(out, uint64(len(id)))
	out = append(out, id...)
	return append(out, frame...)
}

var errAddress = errors.New("a frame without the overlay that it is of")

// addressee is the inverse of address. The frame is part of b.
func addressee(b []byte) (id overlay.ID, frame []byte, err error) {
	size, k := binary.Uvarint(b)
	if k <= 0 || size == 0 || size > maxID || size > uint64(len(b)-k) {
		return "", nil, errAddress
	}
	return overlay.ID(b[k : k+int(size)]), b[k+int(size):], nil
}

// maxID is more than any CID of ours has: 59 characters.
const maxID = 64
