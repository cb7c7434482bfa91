package signed

import (
	"errors"
	"testing"
	"time"

	"godwit/task"
)

var (
	errDamaged = errors.New("damaged")
	errUnknown = errors.New("unknown key")
	errNobody  = errors.New("unsigned")
	errExpired = errors.New("expired")
	errFuture  = errors.New("future")
	errOlder   = errors.New("older")

	kind = Kind{Damaged: errDamaged, Unsigned: errNobody, UnknownKey: errUnknown, Expired: errExpired, Future: errFuture,
		Older: errOlder}
	now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

func TestDates(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		issued, expires time.Time
		want            error
	}{
		"a week":                {now, now.Add(7 * 24 * time.Hour), nil},
		"as long as it may":     {now, now.Add(MaxLife), nil},
		"a second longer":       {now, now.Add(MaxLife + time.Second), errDamaged},
		"no time at all":        {now, now, errDamaged},
		"backwards":             {now, now.Add(-time.Hour), errDamaged},
		"the year 1":            {time.Time{}, time.Time{}.Add(time.Hour), errDamaged},
		"a year of five digits": {last, last.Add(time.Hour), errDamaged},
	} {
		if err := kind.Dates(c.issued, c.expires); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestHolds(t *testing.T) {
	issued, expires := now, now.Add(time.Hour)
	for name, c := range map[string]struct {
		at   time.Time
		want error
	}{
		"as it is made":                 {now, nil},
		"at its last moment":            {expires.Add(-1), nil},
		"when it expires":               {expires, errExpired},
		"where the clock is behind":     {now.Add(-MaxSkew), nil},
		"where it is further behind":    {now.Add(-MaxSkew - 1), errFuture},
		"where the clock was never set": {time.Unix(0, 0), errFuture},
	} {
		if err := kind.Holds(issued, expires, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestSince(t *testing.T) {
	for name, c := range map[string]struct {
		seen time.Time
		want error
	}{
		"nothing was seen": {time.Time{}, nil},
		"the same again":   {now, nil},
		"an older one":     {now.Add(-time.Second), nil},
		"a newer one":      {now.Add(time.Second), errOlder},
	} {
		if err := kind.Since(now, c.seen); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestSigned(t *testing.T) {
	body := []byte("a text")
	one, two := key(1), key(2)
	by := func(seeds ...byte) (all []Signature) {
		var err error
		for _, s := range seeds {
			if all, err = Add(all, key(s), body); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	forged := by(1)
	forged[0].Signature = by(2)[0].Signature
	trusts := []task.PeerID{peerOf(one), peerOf(two)}
	for name, c := range map[string]struct {
		all     []Signature
		trusted []task.PeerID
		body    string
		want    error
	}{
		"one who is trusted":                 {by(1), trusts, "a text", nil},
		"a stranger as well":                 {by(1, 3), trusts, "a text", nil},
		"nobody":                             {nil, trusts, "a text", errNobody},
		"a stranger alone":                   {by(3), trusts, "a text", errUnknown},
		"where nobody is trusted":            {by(1), nil, "a text", errUnknown},
		"another text":                       {by(1), trusts, "another", errDamaged},
		"under another's name":               {forged, trusts, "a text", errDamaged},
		"rightly, and under another's name":  {append(forged[:1:1], by(2)...), trusts, "a text", errDamaged},
		"a stranger's that was made up, too": {append(forged[:1:1], by(2)...), trusts[1:], "a text", nil},
	} {
		if err := kind.Signed(c.all, c.trusted, []byte(c.body)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
