package trace

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxLine bounds one line, in bytes. One session of a coding agent is the longest there is.
const maxLine = 64 << 20

// maxZstdWindow bounds the memory that a compressed stream may ask for.
const maxZstdWindow = 128 << 20

// line is one line of text with its number, from 1.
type line struct {
	n    int
	text []byte // without its line end; valid until the next line
}

// lines reads lines without their ends: "\n" or "\r\n". One byte order mark at the start
// is dropped, blank lines are skipped and counted. A read error ends the sequence.
func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for n := 1; ; n++ {
			buf = buf[:0]
			var err error
			for {
				var part []byte
				part, err = br.ReadSlice('\n')
				buf = append(buf, part...)
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
				if len(buf) > maxLine {
					yield(line{n: n}, fmt.Errorf("line is longer than %d bytes", maxLine))
					return
				}
			}
			text := bytes.TrimSuffix(bytes.TrimSuffix(buf, []byte("\n")), []byte("\r"))
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
			}
			if len(bytes.TrimSpace(text)) > 0 && !yield(line{n, text}, nil) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(line{n: n}, err)
				}
				return
			}
		}
	}
}

// part is one file inside a stream.
type part struct {
	name string
	r    io.Reader
}

// parts opens a stream: plain, gzip, zstd, or a tar of such, nested at most twice.
func parts(name string, r io.Reader, depth int) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		br := bufio.NewReaderSize(r, 1024)
		head, _ := br.Peek(512) // a short file has a short head; a read error comes again on reading
		switch {
		case depth > 3:
			yield(part{name: name}, fmt.Errorf("%s: archives are nested too deeply", name))
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			z, err := gzip.NewReader(br)
			if err != nil {
				yield(part{name: name}, fmt.Errorf("%s: %w", name, err))
				return
			}
			parts(strings.TrimSuffix(name, ".gz"), z, depth+1)(yield)
		case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
			if err != nil {
				yield(part{name: name}, fmt.Errorf("%s: %w", name, err))
				return
			}
			defer z.Close()
			parts(strings.TrimSuffix(name, ".zst"), z, depth+1)(yield)
		case len(head) >= 265 && string(head[257:262]) == "ustar":
			t := tar.NewReader(br)
			for {
				h, err := t.Next()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					yield(part{name: name}, fmt.Errorf("%s: %w", name, err))
					return
				}
				if h.Typeflag != tar.TypeReg {
					continue
				}
				more := true
				parts(name+"!"+h.Name, t, depth+1)(func(p part, err error) bool {
					more = yield(p, err)
					return more
				})
				if !more {
					return
				}
			}
		default:
			yield(part{name, br}, nil)
		}
	}
}
