package wasm

import "fmt"

// CheckElements reports the first active element segment that reaches beyond its table, which makes every instantiation
// of the module trap. Tables that are imported, and offsets that are not constants, are known only then and are not
// checked.
func (m *Module) CheckElements() error {
	tables, imported := m.TableTypes(), m.Imported(TableKind)
	for i := range m.Elements {
		e := &m.Elements[i]
		if e.Mode != Active || int(e.Table) >= len(tables) || int(e.Table) < imported || e.Offset.Op != OpI32Const {
			continue
		}
		if size, at := uint64(tables[e.Table].Limits.Min), uint64(uint32(e.Offset.Bits)); at+uint64(len(e.Init)) > size {
			return fmt.Errorf("out of bounds table access: element segment %d has %d entries from %d on, table %d has %d", i,
				len(e.Init), at, e.Table, size)
		}
	}
	return nil
}
