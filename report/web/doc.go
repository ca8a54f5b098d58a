// Package web serves run directories to a browser: a list of runs, each run's report, a
// live view of a run that is still going, a comparison, and downloads in every export
// format. It reads the folder and never writes to it.
//
// The server is meant for one person on one machine: it answers only requests that name
// a loopback host, so that a web page elsewhere cannot reach it by a forged name, and it
// listens on another address only with a token. It answers GET and HEAD, sets a content
// security policy under which nothing loads from anywhere else, and treats everything in
// a run as hostile text.
package web
