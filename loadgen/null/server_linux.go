package null

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stats are facts about the server since it started.
type Stats struct {
	CPU      time.Duration // used by the process, user and system
	Chunks   int64         // written
	Requests int64
	LateMax  time.Duration // the latest a write was behind its due time
	Open     int           // connections
}

// Server is a null server. It is safe for concurrent use.
type Server struct {
	url                        string
	listener, epoll, timer, ev int
	done                       chan struct{}
	clock                      Clock
	closing                    atomic.Bool

	chunks, requests, late, open atomic.Int64
	stallEvery, stallFor         atomic.Int64 // nanoseconds; 0 is no stalls
	stallAt                      int64

	conns map[int32]*conn
	wheel wheel
	ready []*conn // streams without gaps that can be written to
	buf   []byte
	frame frame
	tails map[int]string
	log   journal
}

// conn is a connection and the stream on it.
type conn struct {
	fd    int
	in    []byte
	shape Shape
	text  bool  // in the form of /v1/completions
	left  int   // chunks to write
	due   int64 // of the next write
	out   []byte
	busy  bool // a reply is under way
	watch bool // waits for room in the socket
	gone  bool
	entry *Entry // of the request under way, where there is a journal
}

// frame is one write of a batch, with the places of its stamps.
type frame struct {
	batch  int
	text   bool // in the form of /v1/completions
	bytes  []byte
	stamps []int
}

// Start starts a server on a free port of loopback.
func Start() (*Server, error) {
	s := &Server{clock: NewClock(), done: make(chan struct{}), conns: map[int32]*conn{}, buf: make([]byte, 64<<10), tails: map[int]string{}}
	var err error
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("null server: %w", err)
	}
	if err = unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(s.listener, 4096)
	}
	if err != nil {
		_ = unix.Close(s.listener)
		return nil, fmt.Errorf("null server: %w", err)
	}
	addr, err := unix.Getsockname(s.listener)
	if err != nil {
		_ = unix.Close(s.listener)
		return nil, fmt.Errorf("null server: %w", err)
	}
	in4, ok := addr.(*unix.SockaddrInet4)
	if !ok {
		_ = unix.Close(s.listener)
		return nil, errors.New("null server: not an IPv4 socket")
	}
	s.url = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(in4.Port))
	if err := s.watchers(); err != nil {
		return nil, fmt.Errorf("null server: %w", err)
	}
	go s.run()
	return s, nil
}

// watchers makes what the loop waits with.
func (s *Server) watchers() error {
	var errs [3]error
	s.epoll, errs[0] = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	s.timer, errs[1] = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	s.ev, errs[2] = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	err := errors.Join(errs[:]...)
	for _, fd := range []int{s.listener, s.timer, s.ev} {
		if err == nil {
			err = s.ctl(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN)
		}
	}
	if err != nil {
		for _, fd := range []int{s.listener, s.epoll, s.timer, s.ev} {
			_ = unix.Close(fd)
		}
	}
	return err
}

func (s *Server) ctl(op, fd int, events uint32) error {
	return unix.EpollCtl(s.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// URL returns the server's address, without a path.
func (s *Server) URL() string { return s.url }

// Close ends the server and its connections.
func (s *Server) Close() {
	if s.closing.CompareAndSwap(false, true) {
		_, _ = unix.Write(s.ev, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
	<-s.done
}

// Stall makes the server stand still for a time, over and over, as a server in trouble
// does; zero ends it.
func (s *Server) Stall(every, d time.Duration) {
	s.stallFor.Store(int64(d))
	s.stallEvery.Store(int64(every))
}

// stall stands still when it is time to.
func (s *Server) stall() {
	every := s.stallEvery.Load()
	if every <= 0 {
		s.stallAt = 0
		return
	}
	now := s.clock.Now()
	switch {
	case s.stallAt == 0:
		s.stallAt = now + every
	case now >= s.stallAt:
		ts := unix.NsecToTimespec(s.stallFor.Load())
		_ = unix.Nanosleep(&ts, nil)
		s.stallAt += every
	}
}

// Stats returns the counts so far. CPU is that of the whole process.
func (s *Server) Stats() Stats {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return Stats{
		CPU:    time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		Chunks: s.chunks.Load(), Requests: s.requests.Load(), LateMax: time.Duration(s.late.Load()), Open: int(s.open.Load()),
	}
}

// Clock reads the monotonic clock that the stamps are from, without a system call each
// time. It is safe for concurrent use.
type Clock struct {
	base time.Time
	mono int64
}

// NewClock returns a clock.
func NewClock() Clock {
	var best Clock
	tightest := time.Duration(1 << 62)
	for range 50 {
		var ts unix.Timespec
		a := time.Now()
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		if took := time.Since(a); took < tightest {
			tightest, best = took, Clock{base: a.Add(took / 2), mono: ts.Nano()}
		}
	}
	return best
}

// Now returns the present in nanoseconds.
func (c Clock) Now() int64 { return c.mono + int64(time.Since(c.base)) }

// slot is the finest time between two turns of the loop.
const slot = 50 * time.Microsecond

func (s *Server) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.done)
	events := make([]unix.EpollEvent, 512)
	for !s.closing.Load() {
		wait := -1
		if len(s.ready) > 0 {
			wait = 0
		} else if due, ok := s.wheel.next(); ok {
			now := s.clock.Now()
			if due <= now {
				wait = 0
			} else {
				s.set(max(due-now, int64(slot)/5))
			}
		}
		n, err := unix.EpollWait(s.epoll, events, wait)
		if err != nil {
			n = 0
		}
		s.stall()
		for _, ev := range events[:n] {
			s.event(ev)
		}
		s.send()
	}
	for _, c := range s.conns {
		_ = unix.Close(c.fd)
	}
	for _, fd := range []int{s.listener, s.epoll, s.timer, s.ev} {
		_ = unix.Close(fd)
	}
}

// set has the timer fire in so many nanoseconds.
func (s *Server) set(ns int64) {
	_ = unix.TimerfdSettime(s.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}, nil)
}

func (s *Server) event(ev unix.EpollEvent) {
	var b [8]byte
	switch int(ev.Fd) {
	case s.listener:
		s.accept()
		return
	case s.timer, s.ev:
		_, _ = unix.Read(int(ev.Fd), b[:])
		return
	}
	c := s.conns[ev.Fd]
	if c == nil {
		return
	}
	if ev.Events&unix.EPOLLOUT != 0 {
		s.resume(c)
	}
	if ev.Events&^unix.EPOLLOUT != 0 {
		s.read(c)
	}
}

func (s *Server) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if s.ctl(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN|unix.EPOLLRDHUP) != nil {
			_ = unix.Close(fd)
			continue
		}
		s.conns[int32(fd)] = &conn{fd: fd}
		s.open.Add(1)
	}
}

func (s *Server) drop(c *conn) {
	if !c.gone {
		c.gone = true
		delete(s.conns, int32(c.fd))
		_ = unix.Close(c.fd)
		s.open.Add(-1)
	}
}

// maxRequest bounds a request, in bytes.
const maxRequest = 64 << 20

func (s *Server) read(c *conn) {
	n, err := unix.Read(c.fd, s.buf)
	if err == unix.EAGAIN || err == unix.EINTR { //nolint:errorlint // errno values are bare
		return
	}
	if err != nil || n == 0 || len(c.in)+n > maxRequest {
		s.drop(c)
		return
	}
	in := s.buf[:n]
	if len(c.in) > 0 {
		c.in = append(c.in, in...)
		in = c.in
	}
	target, size := request(in)
	if size < 0 {
		s.drop(c)
		return
	}
	if size == 0 || size > len(in) {
		if len(c.in) == 0 {
			c.in = append(c.in, in...)
		}
		return
	}
	c.in = c.in[:0]
	if cap(c.in) > 64<<10 {
		c.in = nil
	}
	if c.busy {
		s.drop(c) // this server takes one request at a time
		return
	}
	if bytes.HasPrefix(in, []byte("GET ")) && s.about(c, string(target)) {
		return
	}
	s.requests.Add(1)
	s.answer(c, string(target))
}

// request returns the target of a request and how many bytes it has with its body; 0 when
// its head is not whole, below 0 when it is none.
func request(in []byte) (target []byte, size int) {
	end := bytes.Index(in, []byte("\r\n\r\n"))
	if end < 0 {
		return nil, 0
	}
	head := in[:end]
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	parts := bytes.Split(line, []byte(" "))
	if len(parts) != 3 {
		return nil, -1
	}
	size = end + 4
	for _, name := range []string{"\r\nContent-Length:", "\r\ncontent-length:"} {
		if i := bytes.Index(head, []byte(name)); i >= 0 {
			value, _, _ := bytes.Cut(head[i+len(name):], []byte("\r\n"))
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || n < 0 || n > maxRequest {
				return nil, -1
			}
			return parts[1], size + n
		}
	}
	if bytes.Contains(bytes.ToLower(head), []byte("\r\ntransfer-encoding:")) {
		return nil, -1
	}
	return parts[1], size
}

// about answers a request that is about the server, and reports whether it is one.
func (s *Server) about(c *conn, target string) bool {
	var b []byte
	var err error
	switch path, _, _ := strings.Cut(target, "?"); {
	case path == "/stats":
		b, err = json.Marshal(s.Stats())
	case path == "/journal/start":
		s.log.start()
		b = []byte("{}")
	case path == "/journal":
		b, err = json.Marshal(s.log.end())
	case strings.HasSuffix(path, "/models"):
		b = []byte(modelList)
	case strings.HasSuffix(path, "/health"):
		b = []byte("{}")
	case strings.HasSuffix(path, "/metrics"):
		s.write(c, []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
		return true
	default:
		return false
	}
	if err != nil {
		s.drop(c)
		return true
	}
	s.write(c, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(b), b))
	return true
}

func (s *Server) answer(c *conn, target string) {
	shape, ok := parsePath(target)
	if !ok || shape.Chunks == 0 {
		s.write(c, []byte(whole()))
		return
	}
	now := s.clock.Now()
	c.shape, c.left, c.busy = shape, shape.Chunks, true
	c.text = strings.HasSuffix(target, "/completions") && !strings.HasSuffix(target, "/chat/completions")
	c.entry = s.log.arrived(now)
	s.write(c, []byte(streamHead))
	c.due = now + int64(shape.First)
	s.schedule(c)
}

// schedule puts a stream where its next write will be found.
func (s *Server) schedule(c *conn) {
	if c.shape.Gap == 0 && c.due <= s.clock.Now() {
		s.ready = append(s.ready, c)
		return
	}
	s.wheel.add(c)
}

// send makes the writes that are due.
func (s *Server) send() {
	now := s.clock.Now()
	for {
		c := s.wheel.pop(now)
		if c == nil {
			break
		}
		if !c.gone {
			if late := now - c.due; late > s.late.Load() {
				s.late.Store(late)
			}
			s.turn(c)
		}
	}
	ready := s.ready
	s.ready = s.ready[:0:0]
	if cap(ready) > 0 {
		s.ready = make([]*conn, 0, cap(ready))
	}
	for _, c := range ready {
		if !c.gone {
			s.turn(c)
		}
	}
}

// turn writes the next batch of a stream.
func (s *Server) turn(c *conn) {
	n := min(c.shape.Batch, c.left)
	f := s.framed(n, c.text)
	now := s.clock.Now() + StampBase
	for _, at := range f.stamps {
		putStamp(f.bytes[at:at+StampSize], now)
	}
	c.left -= n
	s.log.sent(c.entry, now-StampBase, c.left == 0)
	s.chunks.Add(int64(n))
	out := f.bytes
	if c.left == 0 {
		out = append(append([]byte(nil), out...), s.tailOf(c.shape.Chunks)...)
		c.busy = false
	}
	if !s.write(c, out) || c.left == 0 {
		return
	}
	if c.shape.Gap > 0 {
		c.due += int64(c.shape.Gap)
	}
	if !c.watch {
		s.schedule(c)
	}
}

func (s *Server) framed(n int, text bool) *frame {
	if s.frame.batch == n && s.frame.text == text {
		return &s.frame
	}
	s.frame = frame{batch: n, text: text}
	front, back := chunkFront, chunkBack
	if text {
		front, back = textFront, textBack
	}
	for range n {
		one := httpChunk(front + "0000000000000000000" + back)
		s.frame.stamps = append(s.frame.stamps, len(s.frame.bytes)+bytes.Index([]byte(one), []byte("0000000000000000000")))
		s.frame.bytes = append(s.frame.bytes, one...)
	}
	return &s.frame
}

func (s *Server) tailOf(chunks int) string {
	t, ok := s.tails[chunks]
	if !ok {
		if len(s.tails) > 1000 {
			clear(s.tails)
		}
		t = tail(chunks)
		s.tails[chunks] = t
	}
	return t
}

func putStamp(to []byte, v int64) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + v%10)
		v /= 10
	}
}

// write writes bytes, or keeps what the socket does not take, and reports whether the
// connection lives.
func (s *Server) write(c *conn, p []byte) bool {
	if len(c.out) > 0 {
		c.out = append(c.out, p...)
		return true
	}
	n, err := unix.SendmsgN(c.fd, p, nil, nil, syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT)
	if err != nil && err != unix.EAGAIN && err != unix.EINTR { //nolint:errorlint // errno values are bare
		s.drop(c)
		return false
	}
	if n = max(n, 0); n < len(p) {
		c.out = append(c.out[:0], p[n:]...)
		c.watch = true
		_ = s.ctl(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLOUT)
	}
	return true
}

// resume goes on with a connection whose socket takes bytes again.
func (s *Server) resume(c *conn) {
	out := c.out
	c.out = nil
	c.watch = false
	if !s.write(c, out) || c.watch {
		return
	}
	_ = s.ctl(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	if c.busy {
		s.schedule(c)
	}
}
