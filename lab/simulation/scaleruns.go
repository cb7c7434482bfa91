package simulation

// fittedRuns are what the model of large overlays is fitted to: runs of docs/measured.md ("Cells, simulated"),
// with hosts like relays (skype06) and tasks of 2 minutes from the fifth minute on. TestModelFitsRuns holds the
// model to them.
var fittedRuns = []cellRun{
	{hosts: 1_000, hours: 4.05, members: 557.3766, cells: 1.999554, adverts: 2_843_831, summaries: 106,
		messages: 8_742_945, takeovers: 2, placed: 65_479. / 14_100},
	{hosts: 5_000, hours: 1.05, members: 2_710.1143, cells: 7.993122, adverts: 4_978_998, summaries: 952,
		messages: 10_615_742, takeovers: 8, placed: 75_253. / 3_300},
	{hosts: 20_000, hours: .55, members: 10_644.2303, cells: 31.944924, adverts: 11_031_943, summaries: 9_517,
		messages: 20_975_121, takeovers: 34, placed: 136_846. / 1_500},
}
