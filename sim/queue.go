package sim

import "sort"

// queue holds the waiting requests in the order in which they will be admitted.
type queue struct {
	items    []*Request
	head     int
	priority bool
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) first() *Request { return q.items[q.head] }

// push adds a new request: last, or behind those of its priority.
func (q *queue) push(r *Request) {
	q.items = append(q.items, r)
	if q.priority {
		live := q.items[q.head:]
		i := sort.Search(len(live)-1, func(i int) bool { return before(r, live[i]) })
		copy(live[i+1:], live[i:len(live)-1])
		live[i] = r
	}
}

// unshift puts a preempted request at the head, or before those of its priority that
// arrived later.
func (q *queue) unshift(r *Request) {
	if q.priority {
		q.push(r)
		return
	}
	if q.head == 0 {
		q.items = append(q.items, nil)
		copy(q.items[1:], q.items)
	} else {
		q.head--
	}
	q.items[q.head] = r
}

func (q *queue) pop() *Request {
	r := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head > 256 && q.head*2 > len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return r
}

// remove takes r out wherever it is.
func (q *queue) remove(r *Request) {
	for i := q.head; i < len(q.items); i++ {
		if q.items[i] == r {
			copy(q.items[i:], q.items[i+1:])
			q.items[len(q.items)-1] = nil
			q.items = q.items[:len(q.items)-1]
			return
		}
	}
}

// before orders by priority, then arrival.
func before(a, b *Request) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	return a.Queued < b.Queued
}
