package migrate

import "time"

const (
	// linkPrice is the running time that a checkpoint costs, for each second that it travels:
	// what its owner's line carries is worth something too. At a tenth, 64 MiB at 10 Mbit/s,
	// which stand still for a second, cost 6.4, so that a host that stays an hour in the mean is
	// asked for .4 of the checkpoints, for one percent of its time
	// (docs/measured.md, "The end of a bag").
	linkPrice = 0.1
	// saveRest is how many times as long as its transfer a checkpoint stays the newest, so
	// that checkpoints take at most a quarter of a member's uplink, whatever is foretold.
	saveRest = 4
)

// Thrifty is Interval for checkpoints that travel on an owner's line: a transfer costs as
// much as a tenth of its time of standing still, beside the pause, and no interval is
// shorter than four transfers. So a host that is likely to stay, and one behind a slow
// line, are asked for few.
func Thrifty(left, pause, transfer time.Duration, stay func(d time.Duration) float64) time.Duration {
	transfer = min(transfer, longestTransfer)
	every := interval(left, pause, transfer, time.Duration(linkPrice*float64(transfer)), stay)
	if every == 0 {
		return 0
	}
	return max(every, saveRest*transfer)
}

// longestTransfer bounds a transfer, so that its multiples do not run over.
const longestTransfer = 10 * 365 * 24 * time.Hour
