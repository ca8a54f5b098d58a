package kvevents

import (
	"encoding/binary"
	"errors"
)

// Batch is what one message said.
type Batch struct {
	Stored, Removed int // blocks
	Cleared         int // times that the whole cache was emptied
	Events          int // events of any kind
}

var (
	errShort = errors.New("event batch: cut off")
	errShape = errors.New("event batch: not the list that engines publish")
)

const maxNest = 32

// reader walks over MessagePack.
type reader struct {
	b     []byte
	depth int
}

func (r *reader) take(n uint64) ([]byte, error) {
	if n > uint64(len(r.b)) {
		return nil, errShort
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out, nil
}

func (r *reader) number(size uint64) (uint64, error) {
	b, err := r.take(size)
	if err != nil {
		return 0, err
	}
	var x [8]byte
	copy(x[8-size:], b)
	return binary.BigEndian.Uint64(x[:]), nil
}

// kind is what a value is.
type kind int

const (
	kindOther kind = iota // a scalar that needs no look inside; n bytes of it follow
	kindText
	kindList
	kindMap
)

// head reads a value's first bytes: what it is, and its size in bytes, elements or pairs.
func (r *reader) head() (k kind, n uint64, err error) {
	b, err := r.take(1)
	if err != nil {
		return 0, 0, err
	}
	sized := func(k kind, size uint64) (kind, uint64, error) {
		n, err := r.number(size)
		return k, n, err
	}
	extra := func(size uint64) (kind, uint64, error) { // an extension has a type byte before its bytes
		n, err := r.number(size)
		return kindOther, n + 1, err
	}
	switch c := b[0]; {
	case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
		return kindOther, 0, nil
	case c < 0x90:
		return kindMap, uint64(c & 0x0f), nil
	case c < 0xa0:
		return kindList, uint64(c & 0x0f), nil
	case c < 0xc0:
		return kindText, uint64(c & 0x1f), nil
	case c == 0xc4 || c == 0xc5 || c == 0xc6:
		return sized(kindText, 1<<(c-0xc4))
	case c == 0xc7 || c == 0xc8 || c == 0xc9:
		return extra(1 << (c - 0xc7))
	case c == 0xca || c == 0xce || c == 0xd2:
		return kindOther, 4, nil
	case c == 0xcb || c == 0xcf || c == 0xd3:
		return kindOther, 8, nil
	case c == 0xcc || c == 0xd0:
		return kindOther, 1, nil
	case c == 0xcd || c == 0xd1:
		return kindOther, 2, nil
	case c >= 0xd4 && c <= 0xd8:
		return kindOther, 1 + 1<<(c-0xd4), nil
	case c == 0xd9 || c == 0xda || c == 0xdb:
		return sized(kindText, 1<<(c-0xd9))
	case c == 0xdc || c == 0xdd:
		return sized(kindList, 2<<(c-0xdc))
	case c == 0xde || c == 0xdf:
		return sized(kindMap, 2<<(c-0xde))
	}
	return 0, 0, errShape
}

// skip passes over one value.
func (r *reader) skip() error {
	k, n, err := r.head()
	if err != nil {
		return err
	}
	return r.skipRest(k, n)
}

func (r *reader) skipRest(k kind, n uint64) error {
	switch k {
	case kindOther, kindText:
		_, err := r.take(n)
		return err
	case kindMap:
		n *= 2
	}
	if r.depth++; r.depth > maxNest {
		return errShape
	}
	defer func() { r.depth-- }()
	for range n {
		if err := r.skip(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text() (string, error) {
	k, n, err := r.head()
	if err != nil {
		return "", err
	}
	if k != kindText {
		return "", r.skipRest(k, n)
	}
	b, err := r.take(n)
	return string(b[:min(len(b), 64)]), err
}

// list reads a list's head and returns its length; a value that is no list is passed over
// and has length 0.
func (r *reader) list() (uint64, error) {
	k, n, err := r.head()
	if err != nil {
		return 0, err
	}
	if k != kindList {
		return 0, r.skipRest(k, n)
	}
	return n, nil
}

// Decode reads one batch: a list of a time and the events, each a list that starts with its
// kind, or a map.
func Decode(b []byte) (Batch, error) {
	r := &reader{b: b}
	var out Batch
	n, err := r.list()
	if err != nil {
		return out, err
	}
	if n < 2 {
		return out, errShape
	}
	if err := r.skip(); err != nil { // the time
		return out, err
	}
	k, events, err := r.head()
	if err != nil {
		return out, err
	}
	if k != kindList {
		return out, errShape
	}
	for range events {
		if err := r.event(&out); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *reader) event(out *Batch) error {
	k, n, err := r.head()
	if err != nil {
		return err
	}
	out.Events++
	switch k {
	case kindList:
		return r.listEvent(n, out)
	case kindMap:
		return r.mapEvent(n, out)
	case kindText: // some encoders wrap each event
		inner, err := r.take(n)
		if err != nil || r.depth > 0 {
			return err
		}
		out.Events--
		return (&reader{b: inner, depth: 1}).event(out)
	}
	return r.skipRest(k, n)
}

// listEvent reads ["BlockStored", [hashes], …].
func (r *reader) listEvent(n uint64, out *Batch) error {
	if n == 0 {
		return nil
	}
	name, err := r.text()
	if err != nil {
		return err
	}
	for i := range n - 1 {
		if i > 0 {
			if err := r.skip(); err != nil {
				return err
			}
			continue
		}
		hashes, err := r.hashes()
		if err != nil {
			return err
		}
		out.add(name, hashes)
	}
	if n == 1 {
		out.add(name, 0)
	}
	return nil
}

// mapEvent reads {"type": "BlockStored", "block_hashes": […], …}.
func (r *reader) mapEvent(n uint64, out *Batch) error {
	name, hashes := "", 0
	for range n {
		key, err := r.text()
		if err != nil {
			return err
		}
		switch key {
		case "type":
			name, err = r.text()
		case "block_hashes":
			hashes, err = r.hashes()
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
	out.add(name, hashes)
	return nil
}

// hashes passes over a list of block hashes and returns how many there are.
func (r *reader) hashes() (int, error) {
	n, err := r.list()
	if err != nil {
		return 0, err
	}
	for range n {
		if err := r.skip(); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

func (b *Batch) add(name string, blocks int) {
	switch name {
	case "BlockStored":
		b.Stored += blocks
	case "BlockRemoved":
		b.Removed += blocks
	case "AllBlocksCleared":
		b.Cleared++
	}
}
