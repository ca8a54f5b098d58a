// Package wire sends one request and records what came back and when: the exact client
// of the load generator.
//
// A [Client] speaks to one server. [Client.Do] renders a [Call] as the body of the
// configured [Endpoint], sends it, reads the reply to its end and fills an
// [archive.Request] with the instants, chunks, usage, text and outcome. It computes no
// metric.
//
// What makes it exact:
//
//   - Arrivals are stamped at the read, before any parsing, and on Linux by the kernel
//     when the bytes reached the socket (SO_TIMESTAMPNS), so that a stamp does not
//     depend on when this process gets to run. The difference between the two is this
//     program's own lag, kept as a histogram in [Stats].
//   - The request body is rendered and hashed before the send stamp, which is taken just
//     before the first byte is written.
//   - Nothing is capped, retried, followed, compressed or proxied behind the caller's
//     back: no connection limit, no redirect, no environment proxy, no total timeout.
//   - A reply is ok only when it carried tokens and came to its proper end; everything
//     else is one of the failure kinds of package archive.
package wire
