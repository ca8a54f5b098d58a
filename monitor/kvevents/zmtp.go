package kvevents

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Limits on what a publisher may send.
const (
	maxFrame = 32 << 20 // bytes of one frame
	maxParts = 16       // frames of one message
	shake    = 5 * time.Second
)

// The bits of a frame's first byte.
const (
	frameMore    = 0x01
	frameLong    = 0x02
	frameCommand = 0x04
)

// greet exchanges greetings and READY commands as a subscriber without security, and
// subscribes to everything.
func greet(c net.Conn, r *bufio.Reader) error {
	if err := c.SetDeadline(time.Now().Add(shake)); err != nil {
		return err
	}
	hello := make([]byte, 64)
	hello[0], hello[9], hello[10] = 0xff, 0x7f, 3
	copy(hello[12:], "NULL")
	if _, err := c.Write(hello); err != nil {
		return err
	}
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(r, theirs); err != nil {
		return fmt.Errorf("no greeting: %w", err)
	}
	switch {
	case theirs[0] != 0xff || theirs[9] != 0x7f || theirs[10] < 3:
		return errors.New("the other side does not speak ZMTP 3")
	case !bytes.Equal(bytes.TrimRight(theirs[12:32], "\x00"), []byte("NULL")):
		return fmt.Errorf("the other side asks for the security mechanism %.20q", bytes.TrimRight(theirs[12:32], "\x00"))
	}
	ready := append([]byte("\x05READY\x0bSocket-Type"), 0, 0, 0, 3)
	ready = append(ready, "SUB"...)
	if err := writeFrame(c, frameCommand, ready); err != nil {
		return err
	}
	flags, body, err := readFrame(r)
	if err != nil {
		return fmt.Errorf("no READY: %w", err)
	}
	if flags&frameCommand == 0 || !bytes.HasPrefix(body, []byte("\x05READY")) {
		return errors.New("the other side refuses to talk")
	}
	if err := writeFrame(c, 0, []byte{1}); err != nil { // subscribe to the empty prefix
		return err
	}
	return c.SetDeadline(time.Time{})
}

func writeFrame(w io.Writer, flags byte, body []byte) error {
	_, err := w.Write(append([]byte{flags, byte(len(body))}, body...))
	return err
}

func readFrame(r *bufio.Reader) (flags byte, body []byte, err error) {
	if flags, err = r.ReadByte(); err != nil {
		return 0, nil, err
	}
	n := uint64(0)
	if flags&frameLong != 0 {
		var b [8]byte
		if _, err = io.ReadFull(r, b[:]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(b[:])
	} else {
		b, err := r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		n = uint64(b)
	}
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes; at most %d are taken", n, maxFrame)
	}
	// Grown as the bytes come: a length alone reserves no memory.
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, r, int64(n)); err != nil {
		return 0, nil, err
	}
	return flags, buf.Bytes(), nil
}

// readMessage reads all parts of one message. Commands in between, such as PING, are passed
// over.
func readMessage(r *bufio.Reader) (parts [][]byte, err error) {
	for {
		flags, body, err := readFrame(r)
		if err != nil {
			return nil, err
		}
		if flags&frameCommand != 0 {
			continue
		}
		if len(parts) == maxParts {
			return nil, errors.New("a message of too many parts")
		}
		parts = append(parts, body)
		if flags&frameMore == 0 {
			return parts, nil
		}
	}
}
