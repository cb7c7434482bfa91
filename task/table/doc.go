// Package table writes and reads the rows of the tables that sweeps go over: see [task.Table].
//
// A table's file is pages of [task.TablePage] bytes, the last as long as it has to be. A page is
// rows one after the other, none across two pages, and zero bytes up to its end. A row is a cell for each
// column: its length as a varint of encoding/binary, and its bytes.
package table
