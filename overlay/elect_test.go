package overlay

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

// TestRaceIsTheSameEverywhere has numbers that every machine must find: members
// that do not agree on them name different groups.
func TestRaceIsTheSameEverywhere(t *testing.T) {
	for peer, want := range map[task.PeerID]uint64{"a": 3370885184264, "b": 567452209368} {
		if got := race("commons", peer); got != want {
			t.Errorf("%s: %d, want %d", peer, got, want)
		}
	}
	if got, want := NextEpoch(5<<tagBits, "a"), uint64(111671573); got != want {
		t.Errorf("epoch %d, want %d", got, want)
	}
}

func TestMinusLog2(t *testing.T) {
	for x, want := range map[uint64]uint64{1 << 63: 1 << raceBits, 1 << 32: 32 << raceBits, 0: 64 << raceBits} {
		if got := minusLog2(x); got > want || want-got > 1<<(raceBits-20) {
			t.Errorf("of %#x: %d, want %d or a little less", x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Uint64().Draw(t, "x")
		want := 64 - math.Log2(float64(x|1))
		if got := float64(minusLog2(x)) / (1 << raceBits); math.Abs(got-want) > 1e-9 {
			t.Fatalf("of %d: %v, want %v", x, got, want)
		}
	})
}

var someCandidate = rapid.Custom(func(t *rapid.T) Candidate {
	return Candidate{
		Peer:    task.PeerID(fmt.Sprint("peer ", rapid.IntRange(0, 30).Draw(t, "peer"))),
		Weight:  rapid.IntRange(0, MaxLevel).Draw(t, "weight"),
		Reserve: rapid.SampledFrom([]Shortfall{0, 0, 0, Young, InUse, Undiallable | Young}).Draw(t, "reserve"),
		Network: rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "network"),
	}
})

var someCandidates = rapid.SliceOfNDistinct(someCandidate, 0, 20, func(c Candidate) task.PeerID { return c.Peer })

// TestGroup: the order of candidates does not matter; a group is as large as it
// can be, of those that stand, without repetition and of the least shortfall; a
// network is in it twice only if there is no other.
func TestGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := someCandidates.Draw(t, "candidates")
		k := rapid.IntRange(-1, MaxGroup+1).Draw(t, "k")
		group := Group("commons", all, k)
		if again := Group("commons", rapid.Permutation(slices.Clone(all)).Draw(t, "order"), k); !slices.Equal(group, again) {
			t.Fatalf("%v, in another order %v", group, again)
		}
		by := map[task.PeerID]Candidate{}
		for _, c := range all {
			if c.Weight > 0 {
				by[c.Peer] = c
			}
		}
		if want := min(max(k, 0), MaxGroup, len(by)); len(group) != want {
			t.Fatalf("%d members, want %d", len(group), want)
		}
		taken := map[string]bool{}
		for _, p := range group {
			c, ok := by[p]
			if !ok {
				t.Fatalf("%s is in it twice, or does not stand", p)
			}
			delete(by, p)
			for _, d := range by {
				if !slices.Contains(group, d.Peer) &&
					(d.Reserve < c.Reserve || d.Reserve == c.Reserve && taken[c.Network] && !taken[d.Network]) {
					t.Fatalf("%+v is in the group %v, and %+v is not", c, group, d)
				}
			}
			taken[c.Network] = true
		}
	})
}

// TestDrawnByWeight: of two candidates, each leads as often over many overlays as
// its odds say.
func TestDrawnByWeight(t *testing.T) {
	const overlays = 5000
	for _, c := range [][2]int{{1, 1}, {2, 1}, {3, 2}, {3, 1}} {
		first := 0
		for i := range overlays {
			if Group(ID(fmt.Sprint(i)), []Candidate{{Peer: "a", Weight: c[0]}, {Peer: "b", Weight: c[1]}}, 1)[0] == "a" {
				first++
			}
		}
		a, b := float64(odds[c[0]]), float64(odds[c[1]])
		p := a / (a + b)
		if got := float64(first) / overlays; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/overlays) {
			t.Errorf("levels %v: first in %.4f of overlays, want %.4f", c, got, p)
		}
	}
}

// TestGroupMovesLittle: when one that is not in the group goes, the group stays;
// when one in it goes, the others stay where no network is shared.
func TestGroupMovesLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := someCandidates.Draw(t, "candidates")
		for i := range all {
			all[i].Network = string(all[i].Peer)
		}
		group := Group("commons", all, GroupSize)
		for i, c := range all {
			left := Group("commons", slices.Delete(slices.Clone(all), i, i+1), GroupSize)
			want := without(group, c.Peer)
			if len(left) < len(want) || !slices.Equal(left[:len(want)], want) {
				t.Fatalf("%v without %s is %v", group, c.Peer, left)
			}
		}
	})
}

// TestRegroup: nobody who still is as good is displaced, and others are.
func TestRegroup(t *testing.T) {
	stand := func(peer task.PeerID, weight int, reserve Shortfall, network string) Candidate {
		return Candidate{Peer: peer, Weight: weight, Reserve: reserve, Network: network}
	}
	for name, c := range map[string]struct {
		candidates []Candidate
		want       []task.PeerID // who must be in it, the first first
		not        task.PeerID
	}{
		"newcomers displace nobody": {[]Candidate{stand("x", 3, 0, "1"), stand("y", 3, 0, "2"), stand("z", 3, 0, "3"),
			stand("p", 3, 0, "4"), stand("q", 3, 0, "5"), stand("r", 3, 0, "6"), stand("s", 3, 0, "7")},
			[]task.PeerID{"x", "y", "z"}, ""},
		"age displaces nobody": {[]Candidate{stand("x", 3, Young, "1"), stand("y", 3, 0, "2"), stand("z", 3, 0, "3"),
			stand("p", 3, 0, "4")}, []task.PeerID{"x", "y", "z"}, "p"},
		"the next leads when the leader goes": {[]Candidate{stand("y", 3, 0, "2"), stand("z", 3, 0, "3"),
			stand("p", 3, 0, "4")}, []task.PeerID{"y", "z", "p"}, ""},
		"a bad forecast costs the place": {[]Candidate{stand("x", 2, 0, "1"), stand("y", 3, 0, "2"), stand("z", 3, 0, "3"),
			stand("p", 3, 0, "4")}, []task.PeerID{"y", "z", "p"}, "x"},
		"but not if all are as bad": {[]Candidate{stand("x", 1, 0, "1"), stand("y", 1, 0, "2"), stand("z", 3, 0, "3"),
			stand("p", 1, 0, "4")}, []task.PeerID{"x", "y", "z"}, "p"},
		"an owner who is back costs the place": {[]Candidate{stand("x", 3, InUse, "1"), stand("y", 3, 0, "2"),
			stand("z", 3, 0, "3"), stand("p", 3, 0, "4")}, []task.PeerID{"y", "z", "p"}, "x"},
		"or stands by if too few others are there": {[]Candidate{stand("x", 3, InUse, "1"), stand("y", 2, 0, "2"),
			stand("p", 1, 0, "4")}, []task.PeerID{"y", "p", "x"}, "z"},
		"one network is spread when another comes": {[]Candidate{stand("x", 3, 0, "1"), stand("y", 3, 0, "1"),
			stand("z", 3, 0, "2"), stand("p", 3, 0, "3")}, []task.PeerID{"x", "z", "p"}, "y"},
	} {
		got := Regroup("commons", []task.PeerID{"x", "y", "z"}, c.candidates, GroupSize)
		if !slices.Equal(got, c.want) || slices.Contains(got, c.not) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		all := someCandidates.Draw(t, "candidates")
		group := Group("commons", all, GroupSize)
		if got := Regroup("commons", group, all, GroupSize); !slices.Equal(got, group) {
			t.Fatalf("the group %v of unchanged candidates becomes %v", group, got)
		}
		if got := Regroup("commons", nil, all, GroupSize); !slices.Equal(got, group) {
			t.Fatalf("from nothing %v, want %v", got, group)
		}
	})
}

func TestCandidates(t *testing.T) {
	now := epoch.Add(time.Hour)
	old, fresh := Forecast{Since: epoch, Stay: .95}, Forecast{Since: now.Add(-time.Minute), Stay: .95}
	advert := func(reach Reach, state State) Advert {
		return Advert{Peer: "a", Reach: reach, State: state, Addrs: []string{"/ip4/198.51.100.7/udp/4001/quic-v1"}}
	}
	public := Advert{Peer: "b", Reach: ReachPublic, State: Available}
	going := advert(ReachPublic, Available)
	going.Until = now.Add(time.Minute)
	tonight := advert(ReachPublic, Available)
	tonight.Until = now.Add(3 * time.Hour)
	for name, c := range map[string]struct {
		advert   Advert
		others   []Advert
		forecast Forecast
		want     string // weight and shortfall
	}{
		"all is well":            {advert(ReachPublic, Available), nil, old, "3 0"},
		"a middling forecast":    {advert(ReachPublic, Available), nil, Forecast{epoch, .7}, "2 0"},
		"a bad forecast":         {advert(ReachPublic, Available), nil, Forecast{epoch, .4}, "1 0"},
		"no probability":         {advert(ReachPublic, Available), nil, Forecast{epoch, math.NaN()}, "1 0"},
		"no forecast":            {advert(ReachPublic, Available), nil, Forecast{}, "1 1"},
		"young":                  {advert(ReachPublic, Available), nil, fresh, "3 1"},
		"owner present":          {advert(ReachPublic, UserPresent), nil, old, "3 2"},
		"busy":                   {advert(ReachPublic, CPUBusy), nil, fresh, "3 3"},
		"leaving":                {advert(ReachPublic, Leaving), nil, old, ""},
		"unavailable":            {advert(ReachPublic, Unavailable), nil, old, ""},
		"gone in a minute":       {going, nil, old, ""},
		"gone tonight":           {tonight, nil, old, "1 0"},
		"on a LAN":               {advert(ReachUnknown, Available), nil, old, "3 0"},
		"unknown, others public": {advert(ReachUnknown, Available), []Advert{public}, old, "3 4"},
		"behind a relay":         {advert(ReachPrivate, Available), nil, old, "3 4"},
	} {
		var l Levels
		got := ""
		for _, k := range l.Candidates(append([]Advert{c.advert}, c.others...), map[task.PeerID]Forecast{"a": c.forecast},
			now) {
			if k.Peer == "a" {
				got = fmt.Sprint(k.Weight, " ", int(k.Reserve))
				if k.Network != "198.51.0.0/16" {
					t.Errorf("%s: network %q", name, k.Network)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var l Levels
	l.Candidates([]Advert{advert(ReachPublic, Available)}, nil, epoch)
	if c := l.Candidates([]Advert{advert(ReachPublic, Available)}, nil, now); c[0].Reserve != 0 {
		t.Errorf("a member without a record that was seen for an hour is short of %v", c[0].Reserve)
	}
	l.Candidates([]Advert{public}, nil, now)
	if l.Level("a") != 1 {
		t.Error("the level of a member that was lost a moment ago is forgotten")
	}
	l.Candidates([]Advert{public}, nil, now.Add(MaxAdvertLife))
	if l.Level("a") != 0 || l.Level("b") != 1 {
		t.Errorf("levels %d and %d, want those of members alone", l.Level("a"), l.Level("b"))
	}
}

// Members that start together are no longer Young at the same time in the view of each, however late each looks: else each
// would draw itself first, and lead.
func TestMembersThatStartTogetherAgeTogether(t *testing.T) {
	var l Levels
	members := []Advert{{Peer: "self", State: Available}}
	l.Candidates(members, nil, epoch)
	for i := range 5 {
		peer := task.PeerID(fmt.Sprint("other", i))
		members = append(members, Advert{Peer: peer, State: Available})
		l.Seen(peer, epoch.Add(time.Duration(i+1)*10*time.Second))
	}
	late := Advert{Peer: "late", State: Available}
	members = append(members, late)
	l.Seen(late.Peer, epoch.Add(meetTime))
	l.Seen(late.Peer, epoch.Add(2*meetTime)) // only the first time counts
	for _, c := range l.Candidates(members, nil, epoch.Add(MinUptime)) {
		if young := c.Reserve&Young != 0; young != (c.Peer == late.Peer) {
			t.Errorf("after %v %q is young: %v", MinUptime, c.Peer, young)
		}
	}
	for _, c := range l.Candidates(members, nil, epoch.Add(meetTime+MinUptime)) {
		if c.Reserve&Young != 0 {
			t.Errorf("%q is young", c.Peer)
		}
	}
}

// TestLevelsDoNotFlap: a forecast that moves by no more than the smallest margin
// changes a level once at most, whatever the level was.
func TestLevelsDoNotFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.IntRange(0, MaxLevel).Draw(t, "level")
		around := rapid.Float64Range(0, 1).Draw(t, "around")
		moves := 0
		for i := range 20 {
			p := around + rapid.Float64Range(-.049, .049).Draw(t, "p")
			next := quantise(level, min(max(p, 0), 1))
			if next != level && i > 0 {
				moves++
			}
			level = next
		}
		if moves > 1 {
			t.Fatalf("%d changes about %v", moves, around)
		}
	})
	for was, want := range map[int]int{0: 3, 1: 3, 2: 3, 3: 3} {
		if got := quantise(was, .99); got != want {
			t.Errorf("level %d becomes %d with .99, want %d", was, got, want)
		}
	}
	if got := quantise(3, .1); got != 1 {
		t.Errorf("level 3 becomes %d with .1, want 1", got)
	}
}

func TestNetworkOf(t *testing.T) {
	for _, c := range []struct {
		addrs []string
		want  string
	}{
		{nil, ""},
		{[]string{"/ip4/198.51.100.7/tcp/4001"}, "198.51.0.0/16"},
		{[]string{"/ip6/2001:db8:1::1/udp/4001/quic-v1"}, "2001:db8::/32"},
		{[]string{"/ip4/192.168.1.2/tcp/1", "/ip4/203.0.113.9/tcp/1"}, "203.0.0.0/16"},
		{[]string{"/ip4/192.168.1.2/tcp/1"}, "192.168.0.0/16"},
		{[]string{"/ip6/::ffff:198.51.100.7/tcp/1"}, "198.51.0.0/16"},
		{[]string{"/ip4/198.51.100.7/tcp/1/p2p/x/p2p-circuit"}, ""},
		{[]string{"/dns4/example.org/tcp/1", "/ip4/", "/ip4/300.1.1.1", "ip4/1.2.3.4", ""}, ""},
		{[]string{"/ip6/fe80::1%eth0/tcp/1"}, "fe80::/32"},
	} {
		if got := NetworkOf(c.addrs); got != c.want {
			t.Errorf("%v: %q, want %q", c.addrs, got, c.want)
		}
	}
}

func TestForecastOf(t *testing.T) {
	pool := &predictor.Pool{}
	recorder := predictor.NewRecorder(pool)
	recorder.Observe(epoch, trace.Available)
	now := epoch.Add(9 * 24 * time.Hour)
	recorder.Tick(now)
	r := recorder.Record()
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	there := ForecastOf(&Advert{Record: b}, pool, now)
	if !there.Since.Equal(epoch.Truncate(time.Second)) || there.Stay < .8 {
		t.Errorf("after nine days: %+v", there)
	}
	none := ForecastOf(&Advert{}, pool, now)
	if !none.Since.IsZero() || !(none.Stay > 0 && none.Stay < there.Stay) {
		t.Errorf("without a record: %+v", none)
	}
	if bad := ForecastOf(&Advert{Record: b[:len(b)-1]}, pool, now); !reflect.DeepEqual(bad, none) {
		t.Errorf("with half a record %+v, want %+v", bad, none)
	}
}

func TestPublicNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"/ip4/198.51.100.7/tcp/1": "198.51.0.0/16", "/ip4/192.168.1.7/tcp/1": "", "/ip4/127.0.0.1/tcp/1": "",
		"/ip6/2001:db8::1/tcp/1": "2001:db8::/32", "/ip6/fe80::1/tcp/1": "", "/dns4/example.org/tcp/1": "",
	} {
		if got := PublicNetworkOf([]string{addr}); got != want {
			t.Errorf("%s is in %q, want %q", addr, got, want)
		}
	}
}
