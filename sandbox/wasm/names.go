package wasm

import "strings"

// FuncName finds the name of a function in the module's name section. It is "" if there is none or the
// section is damaged: names serve messages only.
func (m *Module) FuncName(index int) string {
	for _, s := range m.Customs {
		if s.Name != "name" {
			continue
		}
		c := &cursor{b: s.Data}
		for !c.done() {
			id := c.byte()
			body := c.take(int(c.u32()))
			if id == 1 && c.err == nil {
				return lookupName(body, index)
			}
		}
	}
	return ""
}

// nameLimit keeps a hostile name from filling a message.
const nameLimit = 120

func clip(name string) string {
	if len(name) > nameLimit {
		return strings.ToValidUTF8(name[:nameLimit], "") + "..." // the limit may fall inside a letter
	}
	return name
}

func lookupName(b []byte, index int) string {
	c := &cursor{b: b}
	for range c.count(2) {
		i, name := int(c.u32()), c.name()
		if c.err != nil {
			break
		}
		if i == index {
			return clip(name)
		}
	}
	return ""
}
