package p2p

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// trimReason bounds how long asking a closed connection why takes: it answers at once.
const trimReason = time.Second

// trimmed reports whether a connection, which has ended, was closed by one of the two sides for
// being one too many. libp2p says so to the other side with a code of its own; that is no sign
// that anybody is gone. A connection is asked by opening a stream on it.
func (e *endpoint) trimmed(c network.Conn) bool {
	ctx, cancel := context.WithTimeout(allowRelayed(e.life), trimReason)
	defer cancel()
	s, err := c.NewStream(ctx)
	if err == nil {
		_ = s.Reset() // it is open, whatever was said
		return false
	}
	var why *network.ConnError
	return errors.As(err, &why) && why.ErrorCode == network.ConnGarbageCollected
}
