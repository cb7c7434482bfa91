package scheduler

import (
	"testing"
	"time"

	"godwit/migrate"

	"pgregory.net/rapid"
)

func surely(p float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return p }
}

func TestTailDecides(t *testing.T) {
	const cost = 10 * time.Second
	for name, c := range map[string]struct {
		task  tailTask
		there tailHost
		want  tailChoice
	}{
		"as good there":   {tailTask{time.Hour, 0, true, tailHost{1, surely(1)}}, tailHost{1, surely(1)}, tailStay},
		"a little faster": {tailTask{time.Hour, 0, true, tailHost{1, surely(1)}}, tailHost{1.4, surely(1)}, tailStay},
		"twice as fast":   {tailTask{time.Hour, 0, true, tailHost{1, surely(1)}}, tailHost{2, surely(1)}, tailMove},
		"nearly done": {tailTask{15 * time.Second, 0, true, tailHost{1, surely(1)}}, tailHost{2, surely(1)},
			tailStay},
		"too little to gain": {tailTask{5 * time.Second, 0, false, tailHost{1, surely(1)}}, tailHost{3, surely(1)},
			tailStay},
		"it will go": {tailTask{time.Hour, time.Hour, true, tailHost{1, surely(.2)}}, tailHost{1, surely(1)},
			tailMove},
		"both will go": {tailTask{time.Hour, time.Hour, true, tailHost{1, surely(.2)}}, tailHost{1, surely(.2)},
			tailStay},
		"it stands still":       {tailTask{time.Hour, 0, true, tailHost{0, surely(1)}}, tailHost{1, surely(1)}, tailMove},
		"there it stands still": {tailTask{time.Hour, 0, true, tailHost{1, surely(1)}}, tailHost{0, surely(1)}, tailStay},
		"cannot be saved":       {tailTask{time.Hour, 0, false, tailHost{1, surely(1)}}, tailHost{3, surely(1)}, tailCopy},
		"a copy has much to redo": {tailTask{time.Hour, 3 * time.Hour, false, tailHost{1, surely(1)}},
			tailHost{3, surely(1)}, tailStay},
	} {
		if got, _ := c.task.decide(c.task.here(), &c.there, cost); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// What moves is expected to end sooner, and would not move back; a faster or safer
// member is never the worse choice.
func TestTailIsSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speed, p := rapid.Float64Range(0, 4), rapid.Float64Range(0, 1)
		span := rapid.Int64Range(0, int64(100*time.Hour))
		here := tailHost{speed.Draw(t, "here"), surely(p.Draw(t, "p here"))}
		there := tailHost{speed.Draw(t, "there"), surely(p.Draw(t, "p there"))}
		task := tailTask{
			left: time.Duration(span.Draw(t, "left")), unsaved: time.Duration(span.Draw(t, "unsaved")),
			movable: rapid.Bool().Draw(t, "movable"), at: here,
		}
		cost := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "cost"))
		choice, gain := task.decide(task.here(), &there, cost)
		if choice == tailStay {
			return
		}
		if gain < migrate.TailLeast || task.movable != (choice == tailMove) {
			t.Fatalf("choice %d for a gain of %v", choice, gain)
		}
		better := tailHost{2 * there.speed, surely(1)}
		if c, g := task.decide(task.here(), &better, cost); c != choice || g < gain {
			t.Fatalf("a better member gives choice %d and %v, this one %d and %v", c, g, choice, gain)
		}
		back := task
		back.at = there
		if c, _ := back.decide(back.here(), &here, cost); choice == tailMove && c != tailStay {
			t.Fatalf("it would move back")
		}
	})
}
