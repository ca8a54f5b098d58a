package roofline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The bounds of a GGUF header: anything larger is not a model that a server loads.
const (
	ggufMagic    = 0x46554747 // "GGUF", little-endian
	maxGGUFKeys  = 1 << 16
	maxGGUFText  = 1 << 20
	maxGGUFArray = 1 << 24
	maxTensors   = 1 << 20
)

// ErrNotGGUF is returned for a file that does not start like a GGUF file.
var ErrNotGGUF = errors.New("not a GGUF file")

// ReadGGUF reads a model shape from the header of a GGUF file (versions 2 and 3,
// little-endian). size is the length of the file, for the bytes of its weights; 0 leaves
// them unknown. It reads no tensor data.
func ReadGGUF(r io.Reader, size int64) (Model, error) {
	g := &gguf{r: bufio.NewReaderSize(r, 64<<10), ints: map[string]uint64{}, texts: map[string]string{}}
	if err := g.read(); err != nil {
		return Model{}, fmt.Errorf("gguf: %w", err)
	}
	arch := g.texts["general.architecture"]
	num := func(key string) int { return int(min(g.ints[arch+"."+key], math.MaxInt32)) }
	m := Model{
		Name: g.texts["general.name"], Layers: num("block_count"), Hidden: num("embedding_length"), Heads: num("attention.head_count"),
		KVHeads: num("attention.head_count_kv"), HeadDim: num("attention.key_length"), FF: num("feed_forward_length"), Vocab: num("vocab_size"),
		MaxPositions: num("context_length"), Experts: num("expert_count"), TopK: num("expert_used_count"), ExpertFF: num("expert_feed_forward_length"),
		Window: num("attention.sliding_window"), FileBytes: float64(max(size, 0)), Tied: !g.output,
	}
	if m.Vocab == 0 {
		m.Vocab = g.tokens
	}
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	if m.HeadDim == 0 && m.Heads > 0 {
		m.HeadDim = m.Hidden / m.Heads
	}
	if m.Experts > 0 && m.ExpertFF == 0 {
		m.ExpertFF = m.FF
	}
	if rank := num("attention.kv_lora_rank"); rank > 0 {
		m.Latent = rank + num("rope.dimension_count")
	}
	if err := m.Validate(); err != nil {
		return Model{}, fmt.Errorf("gguf: %w", err)
	}
	if g.weights > 0 && size > 0 {
		m.WeightBytes = float64(size) / g.weights
	}
	return m, nil
}

type gguf struct {
	r       *bufio.Reader
	ints    map[string]uint64
	texts   map[string]string
	tokens  int     // length of the vocabulary array
	weights float64 // elements of all tensors
	output  bool    // there is an output tensor of its own
}

func (g *gguf) read() error {
	var head struct {
		Magic, Version uint32
		Tensors, Keys  uint64
	}
	if err := binary.Read(g.r, binary.LittleEndian, &head); err != nil {
		return fmt.Errorf("%w: %w", ErrNotGGUF, err)
	}
	switch {
	case head.Magic != ggufMagic:
		return ErrNotGGUF
	case head.Version < 2 || head.Version > 3:
		return fmt.Errorf("version %d is not 2 or 3", head.Version)
	case head.Keys > maxGGUFKeys || head.Tensors > maxTensors:
		return fmt.Errorf("%d keys and %d tensors are too many", head.Keys, head.Tensors)
	}
	for i := range head.Keys {
		if err := g.pair(); err != nil {
			return fmt.Errorf("key %d: %w", i, err)
		}
	}
	for i := range head.Tensors {
		if err := g.tensor(); err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
	}
	return nil
}

func (g *gguf) number(n int) (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(g.r, b[:n]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func (g *gguf) text() (string, error) {
	n, err := g.number(8)
	if err != nil {
		return "", err
	}
	if n > maxGGUFText {
		return "", fmt.Errorf("a string of %d bytes", n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(g.r, b)
	return string(b), err
}

// widths are the bytes of the scalar types; strings (8) and arrays (9) have none.
var widths = [13]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

func (g *gguf) pair() error {
	key, err := g.text()
	if err != nil {
		return err
	}
	kind, err := g.number(4)
	if err != nil {
		return err
	}
	switch {
	case kind == 8:
		s, err := g.text()
		if err == nil {
			g.texts[key] = s
		}
		return err
	case kind == 9:
		return g.array(key)
	case kind >= uint64(len(widths)):
		return fmt.Errorf("%q has unknown type %d", key, kind)
	}
	v, err := g.number(widths[kind])
	if err == nil && kind != 6 && kind != 12 {
		g.ints[key] = v
	}
	return err
}

// array skips an array, keeping its length for the vocabulary and, for integers, its
// largest element: per-layer head counts differ in a few models.
func (g *gguf) array(key string) error {
	kind, err := g.number(4)
	if err != nil {
		return err
	}
	n, err := g.number(8)
	if err != nil {
		return err
	}
	if n > maxGGUFArray || kind == 9 || kind >= uint64(len(widths)) {
		return fmt.Errorf("%q is an array of %d elements of type %d", key, n, kind)
	}
	if key == "tokenizer.ggml.tokens" {
		g.tokens = int(n)
	}
	top := uint64(0)
	for range n {
		if kind == 8 {
			if _, err := g.text(); err != nil {
				return err
			}
			continue
		}
		v, err := g.number(widths[kind])
		if err != nil {
			return err
		}
		top = max(top, v)
	}
	if kind != 6 && kind != 8 && kind != 12 {
		g.ints[key] = top
	}
	return nil
}

func (g *gguf) tensor() error {
	name, err := g.text()
	if err != nil {
		return err
	}
	dims, err := g.number(4)
	if err != nil {
		return err
	}
	if dims > 8 {
		return fmt.Errorf("%q has %d dimensions", name, dims)
	}
	elements := 1.0
	for range dims {
		n, err := g.number(8)
		if err != nil {
			return err
		}
		elements *= float64(n)
	}
	g.weights += elements
	g.output = g.output || name == "output.weight"
	if _, err := g.number(4); err != nil { // element type
		return err
	}
	_, err = g.number(8) // offset
	return err
}
