package reproduce

// Sets are the desktop grids of Zhang 2010, chapter 6, by the names that
// Options.Traces and trace.Synthesize know.
var Sets = []string{"ucb", "sdsc", "lri", "deug"}

// Zhang returns the experiments of J. Zhang, "Flexible Distributed Computing
// with Volunteered Resources", PhD thesis, Queen Mary University of London,
// 2010, in the order of a reader: the synthetic ones, then those on traces.
func Zhang() []Experiment {
	return []Experiment{
		{"B.I-1", "System cases", "Appendix B.I, Table B-1, Figs B.1-B.9", systemCases},
		{"B.I-2", "Influence of the difference between days", "Appendix B.I, Tables B-2 and B-3, Figs B.10-B.14", influence},
		{"B.II", "FLP", "Appendix B.II, Table B-4, Figs B.15-B.18", fuzzy},
		{"B.III", "PSPP's predictions", "Appendix B.III, Table B-5, Fig. B.19", scanned},
		{"B.IV", "CBR's predictions", "Appendix B.IV, Figs B.20 and B.21", reasoned},
		{"worked", "Worked examples", "sections 4.2.3-4.3.2, 5.2, 6.1, 7.3", worked},
		{"E6", "PSOPP and workload", "section 7.4.1, Table 7-7, Figs 7-20 to 7-23", workload},
		{"E7", "PSOPP and fitness", "section 7.4.2, Table 7-8, Figs 7-24 and 7-25", fitness},
		{"6", "The traces", "chapter 6, Tables 6-1 to 6-8", traces},
		{"E1", "Number of checking days", "section 7.2.1, Table 7-2, Fig. 7-2", checkingDays},
		{"E2", "Threshold", "section 7.2.2, Table 7-3, Fig. 7-3", thresholds},
		{"E3", "Weights of checking days", "section 7.2.3, Table 7-4, Figs 7-4 and 7-5", weights},
		{"E4", "Similarity of days", "section 7.2.4, Table 7-5, Figs 7-6 to 7-15", similarity},
		{"E5", "FLP on traces", "section 7.3, Table 7-6, Figs 7-16 to 7-19", between},
		{"E8", "PSPP on traces", "section 7.5, Figs 7-26 to 7-29", scanning},
		{"E9", "CBR on traces", "section 7.6, Fig. 7-30", cases},
	}
}
