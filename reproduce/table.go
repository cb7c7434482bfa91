package reproduce

// A Table is what was obtained where there is no figure to put beside each number.
type Table struct {
	Experiment string     `json:"experiment"`
	Title      string     `json:"table"`
	Header     []string   `json:"header"`
	Rows       [][]string `json:"rows"`
}
