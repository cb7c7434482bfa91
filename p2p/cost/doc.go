// Package cost says what each peer of a node may cost it: bytes of messages and of blocks,
// time to decode and time of the node's loop, questions, circuits. What a peer sends
// beyond that waits ([Budgets.Pay], [Budgets.Settle]), or is refused ([Budgets.Ask]); what
// is far beyond is [ErrBeyond], for which a peer is to blame. All peers that the node does
// not work with also share budgets, since names cost nothing.
package cost
