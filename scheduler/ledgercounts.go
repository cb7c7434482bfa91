package scheduler

import "godwit/scheduler/ledger"

// LedgerCounts says how large a copy of the ledger is.
type LedgerCounts struct {
	Jobs, Rows int
	Bytes      int64 // of its durable form, about
}

func countLedger(l *ledger.Ledger) LedgerCounts {
	n := LedgerCounts{Jobs: len(l.Jobs)}
	for _, j := range l.Jobs {
		n.Rows += len(j.Rows)
		n.Bytes += int64(bytesOf(j))
	}
	return n
}

// LedgerCounts says how large a copy of the ledger is, with what of it is retired.
func (r *Replica) LedgerCounts() LedgerCounts {
	n := countLedger(r.ledger)
	n.Rows += r.unread.count
	n.Bytes += int64(r.unread.bytes)
	return n
}

// LedgerCounts says how large the ledger is.
func (c *Coordinator) LedgerCounts() LedgerCounts { return countLedger(c.ledger) }
