// Package null is a server that does no work: it streams chat-completion chunks of a fixed
// form, at fixed gaps or as fast as the socket takes them, and writes into the text of
// each the instant just before it was sent. A client that is run against it shows its own
// ceiling, and the error of its stamps, since both sides read the one monotonic clock of
// the machine.
//
// What a request gets stands in the first segment of its path, so that one server serves
// every shape: see [Shape]. The text of a chunk is [StampSize] digits, the nanoseconds of
// the monotonic clock plus [StampBase]; [Stamps] reads a reply's text back.
//
// The server is one thread with an event loop. It runs on Linux only.
package null
