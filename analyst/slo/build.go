package slo

import (
	"iter"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// condition is a node with a truth value: *comparison, *connective or *negation.
type condition interface{ truth(env lookup) outcome }

// connective joins two conditions with && or ||.
type connective struct {
	and         bool
	left, right condition
}

// negation is !.
type negation struct{ inner condition }

// comparison is a relation of two quantities.
type comparison struct {
	op          string // < <= > >= == !=
	left, right quantity
	text        string // as written
}

// quantity is a node with a number: ref, constant, *arithmetic or *minus.
type quantity interface {
	dimension() dimension
	interval(env lookup) (span, string)
}

type ref struct{ reference }

type arithmetic struct {
	op          string // + - * /
	left, right quantity
	dim         dimension
}

type minus struct{ inner quantity }

func (r ref) dimension() dimension         { return r.dim }
func (c constant) dimension() dimension    { return c.dim }
func (a *arithmetic) dimension() dimension { return a.dim }
func (m *minus) dimension() dimension      { return m.inner.dimension() }

// and joins conditions; a is nil for the first.
func and(a, b condition) condition {
	if a == nil {
		return b
	}
	return &connective{and: true, left: a, right: b}
}

// comparisons walks the comparisons under c from left to right.
func comparisons(c condition) iter.Seq[*comparison] {
	return func(yield func(*comparison) bool) { walk(c, yield) }
}

func walk(c condition, yield func(*comparison) bool) bool {
	switch n := c.(type) {
	case *connective:
		return walk(n.left, yield) && walk(n.right, yield)
	case *negation:
		return walk(n.inner, yield)
	case *comparison:
		return yield(n)
	}
	return true
}

// references lists the metrics that a comparison names.
func (c *comparison) references() []reference {
	var out []reference
	var visit func(q quantity)
	visit = func(q quantity) {
		switch n := q.(type) {
		case ref:
			out = append(out, n.reference)
		case *arithmetic:
			visit(n.left)
			visit(n.right)
		case *minus:
			visit(n.inner)
		}
	}
	visit(c.left)
	visit(c.right)
	return out
}

// builder turns the tree of expr-lang into conditions, and refuses what is not one.
type builder struct {
	source   []rune
	literals map[int]constant // by position
}

func (b *builder) condition(n ast.Node) (condition, error) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			inner, err := b.condition(n.Node)
			return &negation{inner}, err
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			left, err := b.condition(n.Left)
			if err != nil {
				return nil, err
			}
			right, err := b.condition(n.Right)
			return &connective{n.Operator == "&&" || n.Operator == "and", left, right}, err
		case "<", "<=", ">", ">=", "==", "!=":
			return b.comparison(n)
		}
	}
	return nil, at(n, "this is not a comparison; write it as metric < limit")
}

func (b *builder) comparison(n *ast.BinaryNode) (condition, error) {
	left, err := b.quantity(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.quantity(n.Right)
	if err != nil {
		return nil, err
	}
	left, right, err = agree(n, left, right)
	if err != nil {
		return nil, err
	}
	c := &comparison{op: n.Operator, left: left, right: right}
	c.text = c.words()
	refs := c.references()
	if len(refs) == 0 {
		return nil, at(n, "nothing is measured here; name a metric, such as ttft_p99")
	}
	for _, r := range refs {
		if !r.perRequest() {
			continue
		}
		if _, ok := c.limit(); !ok {
			return nil, at(n, "%s stands for each request, and can only be compared with a limit by <, <=, > or >=; or name a statistic, such as %s_p99", r.name, r.name)
		}
	}
	return c, nil
}

// agree checks that both sides measure the same thing. A bare number takes the dimension
// of the other side where that cannot be mistaken.
func agree(n *ast.BinaryNode, left, right quantity) (quantity, quantity, error) {
	l, r := left.dimension(), right.dimension()
	if l == r {
		return left, right, nil
	}
	if c, ok := right.(constant); ok && c.bare && l != seconds {
		c.dim = l
		return left, c, nil
	}
	if c, ok := left.(constant); ok && c.bare && r != seconds {
		c.dim = r
		return c, right, nil
	}
	for _, q := range []quantity{left, right} {
		if c, ok := q.(constant); ok && c.bare {
			return nil, nil, at(n, "a time is compared with a number without a unit; write %sms or %ss", c.text, c.text)
		}
	}
	return nil, nil, at(n, "%s and %s cannot go together", l, r)
}

func (b *builder) quantity(n ast.Node) (quantity, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if c, ok := b.literals[n.Location().From]; ok {
			return c, nil
		}
		r, err := resolve(n.Value)
		if err != nil {
			return nil, at(n, "%v", err)
		}
		return ref{r}, nil
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			inner, err := b.quantity(n.Node)
			if n.Operator == "+" {
				return inner, err
			}
			return &minus{inner}, err
		}
	case *ast.BinaryNode:
		if len(n.Operator) == 1 && strings.Contains("+-*/", n.Operator) {
			return b.arithmetic(n)
		}
	}
	return nil, at(n, "only metrics, numbers and + - * / can be compared")
}

func (b *builder) arithmetic(n *ast.BinaryNode) (quantity, error) {
	left, err := b.quantity(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.quantity(n.Right)
	if err != nil {
		return nil, err
	}
	out := &arithmetic{op: n.Operator, left: left, right: right}
	l, r := left.dimension(), right.dimension()
	switch {
	case n.Operator == "*" && (l == number || l == ratio):
		out.dim = r
	case (n.Operator == "*" || n.Operator == "/") && (r == number || r == ratio):
		out.dim = l
	case n.Operator == "/" && l == r:
		out.dim = number
	case n.Operator == "+" || n.Operator == "-":
		if out.left, out.right, err = agree(n, left, right); err != nil {
			return nil, err
		}
		out.dim = out.left.dimension()
	default:
		return nil, at(n, "%s %s %s has no meaning here", l, n.Operator, r)
	}
	return out, nil
}
