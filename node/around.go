package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
)

const (
	// skewNoted is how far clocks may differ before their owner is told: time servers keep machines within
	// a fraction of a second, and adverts take seconds.
	skewNoted = 10 * time.Second
	// fewRefused adverts are refused now and then for their times, whoever errs.
	fewRefused = 8
	// fewVersions are told one by one.
	fewVersions = 4
)

// around compares this node with the members that it knows: its clock, and its version.
func (n *Node) around(ctx context.Context) []owner.Finding {
	stats := n.net.Stats()
	out := []owner.Finding{clockFinding(n.net.Skew(), stats.DroppedAdverts["future"], stats.DroppedAdverts["expired"])}
	versions := map[string]int{}
	if n.look(ctx, func() {
		for _, m := range n.ordered() {
			for _, a := range m.View().Members() {
				if a.Peer != n.self {
					versions[a.Program()]++
				}
			}
		}
	}) != nil {
		return out
	}
	return append(out, versionsFinding(n.cfg.Version, versions))
}

// clockFinding says whether this machine's clock is right, as far as members' adverts show. Of those, so
// many were refused because they were from the future, or over.
func clockFinding(k p2p.Skew, future, expired uint64) owner.Finding {
	f := owner.Finding{Check: "clock", Result: owner.OK}
	const fix = "have this machine's clock set by a time server (such as with chrony or systemd-timesyncd)"
	way, by := "ahead of", k.Ahead
	if by < 0 {
		way, by = "behind", -by
	}
	switch {
	case k.Members > 0 && by > overlay.MaxSkew/2:
		f.Result, f.Fix = owner.Bad, fix
		f.Text = fmt.Sprintf("it is %v %s those of members, by the median of %d: beyond %v adverts are refused",
			by.Round(time.Second), way, k.Members, overlay.MaxSkew)
	case k.Members > 0 && by > skewNoted:
		f.Result, f.Fix = owner.Blind, fix
		f.Text = fmt.Sprintf("it is %v %s those of members, by the median of %d", by.Round(time.Second), way, k.Members)
	case k.Members > 0:
		f.Text = fmt.Sprintf("it agrees with those of %d members within %v", k.Members, skewNoted)
	case future >= fewRefused && future > expired:
		f.Result, f.Fix = owner.Blind, fix
		f.Text = fmt.Sprintf("%d adverts were refused because they were issued more than %v ahead: this clock may be behind",
			future, overlay.MaxSkew)
	case expired >= fewRefused:
		f.Result, f.Fix = owner.Blind, fix
		f.Text = fmt.Sprintf("%d adverts were refused because their time was over: this clock may be ahead", expired)
	default:
		f.Text = "too few members have been heard to compare it with theirs"
	}
	return f
}

// versionsFinding says which versions of the program members run, by how many do.
func versionsFinding(own string, around map[string]int) owner.Finding {
	f := owner.Finding{Check: "versions", Result: owner.OK}
	if len(around) == 0 {
		f.Text = fmt.Sprintf("this node is %s; no other member is known", own)
		return f
	}
	names := slices.SortedFunc(maps.Keys(around), func(a, b string) int {
		return cmp.Or(cmp.Compare(around[b], around[a]), strings.Compare(a, b))
	})
	var list []string
	rest := 0
	for i, v := range names {
		if i < fewVersions {
			list = append(list, fmt.Sprintf("%d of %q", around[v], v))
		} else {
			rest += around[v]
		}
	}
	if rest > 0 {
		list = append(list, fmt.Sprintf("%d of others", rest))
	}
	f.Text = fmt.Sprintf("this node is %q; of the members that it knows there are %s", own, strings.Join(list, ", "))
	return f
}
