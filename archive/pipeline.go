package archive

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

const (
	batchLines = 128
	batchBytes = 1 << 20
)

// batch is some whole lines on their way through the decoders.
type batch struct {
	first int // number of its first line
	data  []byte
	ends  []int // where each line ends in data
	whole bool  // the last line had its end
	err   error // what ended the reading, on the last batch
	recs  []*Request
	errs  []error
	done  chan struct{}
}

// requests streams requests.jsonl like lines, with the decoding spread over the
// processors. At most a few batches are in memory at once, and leaving the loop early
// stops all goroutines.
func requests(dir string) iter.Seq2[*Request, error] {
	return func(yield func(*Request, error) bool) {
		f, err := os.Open(filepath.Join(dir, RequestsFile))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		workers := min(runtime.GOMAXPROCS(0), 8)
		work := make(chan *batch)
		order := make(chan *batch, 2*workers)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(work)
			defer close(order)
			read(bufio.NewReaderSize(f, 256<<10), work, order, stop)
		})
		for range workers {
			wg.Go(func() {
				var d decoder
				for b := range work {
					b.decode(&d)
					close(b.done)
				}
			})
		}
		defer wg.Wait()
		defer close(stop)
		for b := range order {
			<-b.done
			for i := range b.recs {
				if !yield(b.recs[i], b.errs[i]) {
					return
				}
			}
			if b.err != nil {
				yield(nil, &LineError{File: RequestsFile, Line: b.first + len(b.ends), Err: b.err})
				return
			}
		}
	}
}

// read cuts the file into batches until its end or until stop is closed.
func read(br *bufio.Reader, work, order chan<- *batch, stop <-chan struct{}) {
	var buf []byte
	for n := 1; ; {
		b := &batch{first: n, whole: true, done: make(chan struct{})}
		last := false
		for len(b.ends) < batchLines && len(b.data) < batchBytes && !last {
			line, whole, err := readLine(br, &buf)
			last = err != nil
			if err != nil && err != io.EOF {
				b.err = err
				break
			}
			if len(line) == 0 && err == io.EOF {
				break
			}
			b.data = append(b.data, line...)
			b.ends = append(b.ends, len(b.data))
			b.whole = whole
		}
		n += len(b.ends)
		select {
		case order <- b:
		case <-stop:
			return
		}
		select {
		case work <- b:
		case <-stop:
			close(b.done)
			return
		}
		if last {
			return
		}
	}
}

func (b *batch) decode(d *decoder) {
	b.recs, b.errs = make([]*Request, len(b.ends)), make([]error, len(b.ends))
	from := 0
	for i, end := range b.ends {
		r := new(Request)
		if err := d.decode(b.data[from:end], r); err != nil {
			b.errs[i] = &LineError{File: RequestsFile, Line: b.first + i, Partial: i == len(b.ends)-1 && !b.whole, Err: err}
		} else {
			b.recs[i] = r
		}
		from = end
	}
}
