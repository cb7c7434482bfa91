package exec

import (
	"slices"
	"testing"
	"time"

	"godwit/task"
)

// step is the spacing of the runs here.
const step = 100

// keeps adds n states to a run, each of a page that all have and one of its own, of so many bytes.
func keeps(k *keeping, r *keptRun, n int, bytes int64) (of []task.Boundary) {
	for i := 1; i <= n; i++ {
		b := task.Boundary{Fuel: uint64(i * step), State: [32]byte{byte(i)}}
		of = append(of, b)
		pages := [][32]byte{{1}, {2, byte(i), byte(r.task.Index)}}
		k.add(r, keptState{Boundary: b, cid: task.RawCID([]byte{byte(i)}), pages: pages},
			func([32]byte) int64 { return bytes })
	}
	return of
}

// served are the numbers, from 1, of the states that are kept.
func (r *keptRun) served() (out []int) {
	for _, s := range r.states {
		if s.cid != "" {
			out = append(out, int(s.Fuel/step))
		}
	}
	return out
}

// Equal pages count once; with more than fits every second state of the run goes that has most, and
// at last the run; what has no trail in the end goes at once, and all else after a day.
func TestKeeping(t *testing.T) {
	const page, names = 1000, 2 * keptLink // of the two pages of a state
	now := time.Unix(1e9, 0)
	for name, tt := range map[string]struct {
		most   int64
		n      int
		served int
		bytes  int64
	}{
		"all":              {100 * page, 10, 10, 11*page + 10*names},
		"every second":     {8 * page, 10, 5, 6*page + 5*names},
		"every fourth":     {4 * page, 10, 2, 3*page + 2*names},
		"one is too many":  {page, 10, 0, 0},
		"the trail's own":  {1000 * page, 40, 20, 21*page + 20*names},
		"of many":          {1000 * page, 70, 17, 18*page + 17*names},
		"small pages cost": {10 * keptPage, 3, 3, 4*page + 3*names},
	} {
		k := &keeping{most: tt.most}
		r := k.begin(keptRun{spacing: step})
		of := keeps(k, r, tt.n, page)
		if roots := k.roots(); !slices.Contains(roots, task.RawCID([]byte{byte(tt.n)})) {
			t.Errorf("%s: the newest state may go", name)
		}
		k.end(r, of, now)
		got := len(r.served())
		if len(k.runs) == 0 {
			got = 0
		}
		if got != tt.served || k.bytes != tt.bytes || (len(k.runs) > 0 && len(k.roots()) != got) {
			t.Errorf("%s: %v is kept, %d bytes", name, r.served(), k.bytes)
		}
	}
	k := &keeping{most: 12*page + 8*names}
	a, b := k.begin(keptRun{spacing: step}), k.begin(keptRun{spacing: step, task: task.TaskID{Index: 1}})
	of := keeps(k, a, 8, page)
	keeps(k, b, 4, page)
	if len(a.served()) != 4 || len(b.served()) != 4 || k.bytes != 10*page+8*names {
		t.Errorf("of two runs %v and %v, %d bytes", a.served(), b.served(), k.bytes)
	}
	k.end(b, nil, now)
	k.end(a, of, now)
	root := task.TrailRoot(of)
	if r, _ := k.find(task.TaskID{}, root, now.Add(keptFor)); r != a || len(r.states) != 8 || len(k.runs) != 1 {
		t.Errorf("%+v is found of %d runs", r, len(k.runs))
	}
	if r, _ := k.find(task.TaskID{}, root, now.Add(keptFor+time.Second)); r != nil || k.bytes != 0 {
		t.Errorf("after a day %d bytes", k.bytes)
	}
	c := k.begin(keptRun{spacing: step})
	keeps(k, c, 8, page)
	if keeps(k, c, 2, page); len(c.states) != 2 || k.bytes != 3*page+2*names {
		t.Errorf("begun anew it has %v, %d bytes", c.served(), k.bytes)
	}
}
