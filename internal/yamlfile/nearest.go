package yamlfile

// Nearest returns the candidate that a person who typed word most likely
// meant, or "" if none is near: a third of the letters may be wrong, and at
// least one. Of equally near ones the first wins.
func Nearest(word string, candidates []string) string {
	const longest = 64 // bytes; nobody mistypes more
	if len(word) > longest {
		return ""
	}
	best, found := max(len(word)/3, 1)+1, ""
	for _, c := range candidates {
		if d := distance(word, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// distance counts the letters to insert, drop, replace or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	// Row i of the classic table holds the distances of a[:i] to each b[:j].
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j-1]+cost, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
