package api

import (
	"sync"
	"time"

	"godwit/api/view"
	"godwit/node"
)

// reliableFor is how long an answer on how good forecasts are serves: histories grow slowly, and to ask them
// takes tenths of a second of processor time.
const reliableFor = 10 * time.Minute

// A reliability keeps the last answer.
type reliability struct {
	mu   sync.Mutex
	last view.Reliability
	at   time.Time
}

func (k *reliability) of(records []node.MemberRecord) view.Reliability {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); k.at.IsZero() || now.Sub(k.at) > reliableFor {
		k.last, k.at = view.NewReliability(records, 1), now
	}
	return k.last
}
