package trace

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// handMade is three days, observed from 10 to 12 h, of two hosts; its statistics
// are worked out in TestDescribeByHand.
const handMade = `# name: by hand
# start: 2025-03-03T10:00:00Z
# end: 2025-03-05T12:00:00Z
# window: 10h-12h
host,start_s,end_s,state,cpu
a,0,7200,available,
a,86400,90000,available,
a,90000,93600,unavailable,
a,172800,178200,available,
a,178200,180000,user-present,
b,0,3600,available,0.5
b,3600,7200,unavailable,
b,86400,88200,available,
b,88200,93600,unavailable,
b,172800,180000,unavailable,
`

// a: day 1 up; day 2 up the first of two hours; day 3 up 1.5 h, then its owner is
// there. b: day 1 up the first hour, day 2 up half an hour, day 3 down.
func TestDescribeByHand(t *testing.T) {
	s := describe(t, read(t, "x.csv", handMade))
	equal := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	equal("hosts and days", [3]int{s.Hosts, s.Days, s.HostDays}, [3]int{2, 3, 6})
	// Twelve host-hours: up 2 + 1 + 1.5 and 1 + 0.5; owner 0.5; the rest down.
	near("available", s.States[Available].Share, 6.0/12)
	near("user present", s.States[UserPresent].Share, 0.5/12)
	near("unavailable", s.States[Unavailable].Share, 5.5/12)
	near("mean host share", s.Share.Mean, (4.5/6+1.5/6)/2)
	// Events: a on days 2 and 3, b on days 1 and 2.
	equal("events", s.Events, 4)
	near("events per host-day", s.PerHostDay, 4.0/6)
	// All intervals touch time that nobody observed.
	equal("up", s.Up, Lengths{Cut: 5})
	equal("down", s.Down, Lengths{Cut: 5})
	equal("day types", s.DayTypes, Types{Up: 1, Down: 1, Mixed: 4})
	// Hours, 10 and 11, a: UU, UD, U-; b: UD, -D, DD.
	equal("hour types", s.HourTypes, Types{Up: 5, Down: 5, Mixed: 2})
	// Pairs of mixed days: a's 2 and 3 (shares 1/2 and 3/4, overlap 1/2), b's 1
	// and 2 (1/2 and 1/4, overlap 1/4), both 1/sqrt(3).
	rho := 1 / math.Sqrt(3)
	equal("daily pairs", [2]int{s.Daily.Series, s.Daily.Pairs}, [2]int{4, 2})
	near("daily PMCC", s.Daily.Mean, rho)
	near("least", s.Daily.Min, rho)
	near("most", s.Daily.Max, rho)
	equal("classes", [3]float64{s.Daily.Low, s.Daily.Medium, s.Daily.High}, [3]float64{0, 1, 0})
	equal("distribution", s.Daily.Histogram, [pmccBins]int{15: 2}) // 0.577 is between 0.5 and 0.6
	equal("hourly", [2]int{s.Hourly.Series, s.Hourly.Pairs}, [2]int{2, 0})
	equal("pairs a day apart", s.ByInterval[0].Pairs, 2)
	equal("pairs two days apart", s.ByInterval[1], Interval{Days: 2})
	// a's up-day is followed by two that are not; b's down-day is the last.
	equal("up days again", s.UpDays, []Recurrence{{1, 0, 1}, {2, 0, 1}})
	equal("down days again", s.DownDays, []Recurrence{{1, 0, 0}, {2, 0, 0}})
	// Hour 10: a U U U, b U - D; hour 11: a U D -, b D D D.
	equal("up hours again", s.UpHours, []Recurrence{{1, 2, 4}, {2, 1, 3}})
	equal("down hours again", s.DownHours, []Recurrence{{1, 2, 3}, {2, 1, 1}})
	// Both at 10:00 on days 1 and 2; none at the end of days 2 and 3. By time:
	// 10:00 2 2 1; 10:30 2 1 1; 11:00 1 0 1; 11:30 1 0 0.
	equal("at once", [2]int{s.AtOnce.Min, s.AtOnce.Max}, [2]int{0, 2})
	near("mean most", s.AtOnce.MeanMax, 5.0/3)
	near("mean least", s.AtOnce.MeanMin, 1.0/3)
	// The four half hours' means are 5/3, 4/3, 2/3, 1/3, about their mean, 1.
	near("variance", s.AtOnce.Variance, (4.0/9+1.0/9+1.0/9+4.0/9)/4)
	for m, want := range map[int]float64{0: 5.0 / 3, 29: 5.0 / 3, 30: 4.0 / 3, 60: 2.0 / 3, 119: 1.0 / 3} {
		near("by time", s.AtOnce.ByTime[m], want)
	}
}

func TestIntervalLengths(t *testing.T) {
	s := describe(t, read(t, "s.csv", "host,start_s,end_s\na,3600,7200\na,9000,19800\nb,0,1800\nb,3600,36000\n"))
	// a: up 1 h and 3 h whole, down 0.5 h whole, first and last cut; b: down 0.5 h.
	up, down := Lengths{2, 2, 2, 1, 3, []float64{1, 3}}, Lengths{2, 2, 0.5, 0.5, 0.5, []float64{0.5, 0.5}}
	if !reflect.DeepEqual(s.Up, up) || !reflect.DeepEqual(s.Down, down) {
		t.Errorf("up %+v, down %+v", s.Up, s.Down)
	}
}

func TestDescribeRefusesAges(t *testing.T) {
	_, err := Describe(read(t, "s.csv", "host,start_s,end_s\na,0,3600000000\n"))
	if err == nil || !strings.Contains(err.Error(), "are its times seconds?") {
		t.Error(err)
	}
}

// What the records' description says of the phones: available .16 of the time,
// up about 1 h on average, .26 h in the median, down 3.3 h and .13 h.
func TestDescribeRealRecords(t *testing.T) {
	s := describe(t, readReal(t, "phones", "availability_2state.csv.gz"))
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"share", s.Share.Mean, 0.14, 0.18}, {"up", s.Up.Mean, 0.9, 1.2}, {"up median", s.Up.Median, 0.2, 0.32},
		{"down", s.Down.Mean, 3, 3.6}, {"down median", s.Down.Median, 0.1, 0.3},
	} {
		if c.got < c.least || c.got > c.most {
			t.Errorf("%s: %.3f, want %v to %v", c.what, c.got, c.least, c.most)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	tr := synth(b, "deug", SynthConfig{})
	for b.Loop() {
		if _, err := Describe(tr); err != nil {
			b.Fatal(err)
		}
	}
}
