package hostile

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"godwit/p2p/wire"
	"godwit/task"
)

// Content is blocks that a stranger has to give: whatever their names say they are.
type content struct {
	mu     sync.Mutex
	blocks map[name]func() []byte
	served int64 // bytes
}

// A name is a CID in bytes: version 1, a codec and a SHA-256.
type name [4 + sha256.Size]byte

// Codecs of blocks.
const (
	rawCodec  = 0x55
	fileCodec = 0x70 // dag-pb
	jobCodec  = 0x71 // dag-cbor
)

func newContent() *content { return &content{blocks: map[name]func() []byte{}} }

// nameOf returns the name of a block.
func nameOf(codec byte, data []byte) (n name) {
	const version, sha = 1, 0x12
	copy(n[:], []byte{version, codec, sha, sha256.Size})
	sum := sha256.Sum256(data)
	copy(n[4:], sum[:])
	return n
}

// cid returns a name as text.
func (n name) cid() task.CID {
	return task.CID("b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(n[:])))
}

// nameFrom reads a CID.
func nameFrom(c task.CID) (n name, err error) {
	text := strings.ToUpper(strings.TrimPrefix(string(c), "b"))
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err == nil && len(b) != len(n) {
		err = errors.New("a CID of another length")
	}
	copy(n[:], b)
	return n, err
}

// put has a block to give.
func (c *content) put(codec byte, data []byte) name {
	n := nameOf(codec, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks[n] = func() []byte { return data }
	return n
}

// made has a block to give that is made when it is asked for.
func (c *content) made(n name, data func() []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks[n] = data
}

func (c *content) block(n name) []byte {
	c.mu.Lock()
	of := c.blocks[n]
	c.mu.Unlock()
	if of == nil {
		return nil
	}
	data := of()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served += int64(len(data))
	return data
}

// given returns how many bytes of blocks were asked for and sent.
func (c *content) given() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.served
}

// serve answers one stream of wanted blocks.
func (c *content) serve(_ context.Context, _ task.PeerID, s *wire.Stream) {
	defer s.Close()
	r, w := bufio.NewReader(s), bufio.NewWriter(s)
	for {
		wants, err := wire.ReadFrame(r, 64<<10, nil)
		if err != nil {
			return
		}
		for len(wants) >= len(name{}) {
			data := c.block(name(wants))
			wants = wants[len(name{}):]
			if data == nil {
				err = w.WriteByte(1) // it is not here
			} else if err = w.WriteByte(0); err == nil {
				err = wire.WriteFrame(w, data)
			}
			if err != nil {
				return
			}
		}
		if w.Flush() != nil {
			return
		}
	}
}

// Fields of the protocol buffers that files are made of: UnixFS in dag-pb.
const (
	varint, bytesField = 0, 2

	nodeData, nodeLinks = 1, 2
	linkHash, linkName  = 1, 2
	linkSize            = 3
	unixType, unixSize  = 1, 3
	unixBlocks          = 4
	unixFile            = 2 // of unixType
)

func number(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(append(b, byte(field<<3|varint)), v)
}

func text(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(field<<3|bytesField)), uint64(len(v)))
	return append(b, v...)
}

// A part is a child of a file's node, and the bytes that the node says it has.
type part struct {
	name name
	says uint64
}

// file has a node of a file to give, which says that it has so many bytes in all.
func (c *content) file(says uint64, parts []part) name {
	data := number(number(nil, unixType, unixFile), unixSize, says)
	var node []byte
	for _, p := range parts {
		data = number(data, unixBlocks, p.says)
		node = text(node, nodeLinks, number(text(text(nil, linkHash, p.name[:]), linkName, nil), linkSize, p.says))
	}
	return c.put(fileCodec, text(node, nodeData, data))
}

const (
	chunk        = 256 << 10 // bytes of a leaf
	linksPerNode = 174       // of a file's node
)

// bomb has a file of few blocks to give that expands to linksPerNode to the power of levels
// leaves, and says of itself that it has says bytes; 0 is the truth.
func (c *content) bomb(levels int, says uint64) task.CID {
	leaf := make([]byte, chunk)
	child, size := c.put(rawCodec, leaf), uint64(chunk)
	for range levels {
		parts := make([]part, linksPerNode)
		for i := range parts {
			parts[i] = part{child, size}
		}
		total := size * linksPerNode
		if says != 0 {
			total = says
			for i := range parts {
				parts[i].says = says / linksPerNode
			}
		}
		child, size = c.file(total, parts), total
	}
	return child.cid()
}

// bulk has a file of so many different bytes to give, which says that it has says bytes; 0
// is the truth. It is made again when it is asked for.
func (c *content) bulk(size int, says uint64, salt uint64) task.CID {
	var parts []part
	for at := 0; at < size; at += chunk {
		seed := salt<<32 | uint64(at/chunk)
		n := nameOf(rawCodec, noise(seed))
		c.made(n, func() []byte { return noise(seed) })
		parts = append(parts, part{n, chunk})
	}
	for len(parts) > 1 {
		var up []part
		for from := 0; from < len(parts); from += linksPerNode {
			some := parts[from:min(len(parts), from+linksPerNode)]
			var sum uint64
			for _, p := range some {
				sum += p.says
			}
			if len(parts) <= linksPerNode && says != 0 {
				sum = says
			}
			up = append(up, part{c.file(sum, some), sum})
		}
		parts = up
	}
	return parts[0].name.cid()
}

// noise returns a leaf that follows from its seed and does not compress.
func noise(seed uint64) []byte {
	out, x := make([]byte, chunk), seed*0x9e3779b97f4a7c15+1
	for i := 0; i < len(out); i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(out[i:], x)
	}
	return out
}

// bytes has some bytes to give as a file, and returns its CID.
func (c *content) bytes(b []byte) task.CID {
	if len(b) <= chunk {
		return c.put(rawCodec, b).cid()
	}
	var parts []part
	for at := 0; at < len(b); at += chunk {
		leaf := b[at:min(len(b), at+chunk)]
		parts = append(parts, part{c.put(rawCodec, leaf), uint64(len(leaf))})
	}
	return c.file(uint64(len(b)), parts).cid()
}
