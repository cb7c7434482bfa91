// Package zhang has the experiments of Zhang 2010, on placement (FCFS, FCFSPP, FLP, PSOPP)
// and on the prediction of exits (PSPP, CBR): those on synthetic grids, which come out
// figure by figure, and those on traces. docs/spec/zhang.md is what the thesis specifies.
package zhang

import "godwit/reproduce"

// Experiments returns the experiments of J. Zhang, "Flexible Distributed Computing
// with Volunteered Resources", PhD thesis, Queen Mary University of London,
// 2010, in the order of a reader: the synthetic ones, then those on traces.
func Experiments() []reproduce.Experiment {
	return []reproduce.Experiment{
		experiment("B.I-1", "System cases", "Appendix B.I, Table B-1, Figs B.1-B.9", systemCases),
		experiment("B.I-2", "Influence of the difference between days", "Appendix B.I, Tables B-2 and B-3, Figs B.10-B.14",
			influence),
		experiment("B.II", "FLP", "Appendix B.II, Table B-4, Figs B.15-B.18", fuzzy),
		experiment("B.III", "PSPP's predictions", "Appendix B.III, Table B-5, Fig. B.19", scanned),
		experiment("B.IV", "CBR's predictions", "Appendix B.IV, Figs B.20 and B.21", reasoned),
		experiment("worked", "Worked examples", "sections 4.2.3-4.3.2, 5.2, 6.1, 7.3", worked),
		experiment("E6", "PSOPP and workload", "section 7.4.1, Table 7-7, Figs 7-20 to 7-23", workload),
		experiment("E7", "PSOPP and fitness", "section 7.4.2, Table 7-8, Figs 7-24 and 7-25", fitness),
		experiment("6", "The traces", "chapter 6, Tables 6-1 to 6-8", traces),
		experiment("E1", "Number of checking days", "section 7.2.1, Table 7-2, Fig. 7-2", checkingDays),
		experiment("E2", "Threshold", "section 7.2.2, Table 7-3, Fig. 7-3", thresholds),
		experiment("E3", "Weights of checking days", "section 7.2.3, Table 7-4, Figs 7-4 and 7-5", weights),
		experiment("E4", "Similarity of days", "section 7.2.4, Table 7-5, Figs 7-6 to 7-15", similarity),
		experiment("E5", "FLP on traces", "section 7.3, Table 7-6, Figs 7-16 to 7-19", between),
		experiment("E8", "PSPP on traces", "section 7.5, Figs 7-26 to 7-29", scanning),
		experiment("E9", "CBR on traces", "section 7.6, Fig. 7-30", cases),
	}
}
