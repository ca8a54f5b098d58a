package campaign

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/inferencebench/inferencebench/analyst/roofline"
)

// ReadModel reads a model's shape from a Hugging Face config.json or the header of a GGUF
// file.
func ReadModel(path string) (*roofline.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	magic := make([]byte, 4)
	n, _ := io.ReadFull(f, magic)
	if bytes.Equal(magic[:n], []byte("GGUF")) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		m, err := roofline.ReadGGUF(f, info.Size())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return &m, nil
	}
	const maxConfig = 1 << 20
	rest, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return nil, err
	}
	m, err := roofline.ParseConfig(append(magic[:n], rest...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}
