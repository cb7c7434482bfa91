package zhang

import "godwit/reproduce"

// bench is what an experiment works on, with the judgements of this publication.
type bench struct{ *reproduce.Bench }

func experiment(name, title, where string, do func(*bench) error) reproduce.Experiment {
	run := func(b *reproduce.Bench) error { return do(&bench{b}) }
	return reproduce.Experiment{Name: name, Title: title, Where: where, Do: run}
}
