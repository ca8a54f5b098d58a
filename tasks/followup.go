package tasks

import (
	"math/rand/v2"
	"strings"

	"github.com/inferencebench/inferencebench/tasks/prose"
)

// switchShare is how often a user changes the subject although the reply was usable.
const switchShare = 0.12

// follower writes the user message that follows a reply.
type follower struct {
	r    *rand.Rand
	w    *prose.Writer
	kind *kind
	lang prose.Lang
}

// message asks about something that the reply says, or, when nothing in it is usable
// and now and then otherwise, opens another subject.
func (f follower) message(x facts) string {
	if x.garbage != "" {
		return f.another(x.garbage)
	}
	if f.r.Float64() < switchShare {
		return f.another("")
	}
	type source struct {
		from []string
		asks []string
	}
	t := followTexts[f.lang]
	var open []source
	add := func(from, asks []string) {
		if len(from) > 0 {
			open = append(open, source{from, asks})
		}
	}
	add(x.sentences, t.sentence)
	add(x.sentences, t.sentence) // the likeliest thing to ask about
	add(x.numbers, t.number)
	add(x.items, t.item)
	if x.code {
		add(x.terms, t.code)
	} else {
		add(x.terms, t.term)
	}
	s := open[f.r.IntN(len(open))]
	ask := f.w.Expand(s.asks[f.r.IntN(len(s.asks))])
	// The reply's words go in last, so that nothing in them is taken for a slot.
	return strings.Replace(ask, "%", s.from[f.r.IntN(len(s.from))], 1)
}

// another opens a new subject, and says why when the last reply was unusable.
func (f follower) another(garbage string) string {
	t := followTexts[f.lang]
	f.w.Switch()
	lead := t.change
	switch garbage {
	case "":
	case "empty":
		lead = t.empty
	default:
		lead = t.unclear
	}
	k := lookupKind([...]string{"qa", "chat", "creative", "reasoning", "code"}[f.r.IntN(5)])
	return lead[f.r.IntN(len(lead))] + upperFirst(f.w.Expand(pickText(f.r, k.asks[f.lang])))
}

// followText are the shapes of a follow-up; % stands for what is taken from the reply.
type followText struct {
	sentence, number, item, term, code []string
	change, empty, unclear             []string
}

var followTexts = map[prose.Lang]followText{
	prose.English: {
		sentence: []string{
			`You said: "%". What makes you sure of that, and when would it not hold?`,
			`Take this sentence of yours: "%". Say it again so that a {role} understands it at once.`,
			`About "%": can you give me a concrete example from {topic}?`,
			`I showed {name} your line "%" and got a shrug. What is the strongest argument against it?`,
			`"%" sounds right, but what follows from it when {problem}?`,
			`Suppose "%" turned out to be wrong. Which part of your answer would fall first?`,
			`Please turn "%" into a checklist of {small} steps.`,
		},
		number: []string{
			`Where does the figure %, which you mention, come from? How would it change if {measure} doubled?`,
			`You mention %. Is that a lot? Compare it with {num} {unit} for {measure}.`,
			`If % were {pct} percent lower, would you still answer the same way?`,
			`Check your figure % once more and show the calculation line by line.`,
		},
		item: []string{
			`Of the points you listed, take "%" and go deeper: what goes wrong most often, and how do I notice?`,
			`Which of your points matters more than "%", and why?`,
			`Drop "%" from your list. What should stand in its place if we have only {small} people?`,
			`How long would "%" take in practice, and who should do it?`,
		},
		term: []string{
			`What exactly do you mean by "%"? Explain it to someone who has only ever {verb} {things}.`,
			`You use the word "%". Give me two other words for it, and say how they differ.`,
			`How is "%" connected to {measure}, if at all?`,
		},
		code: []string{
			`In the code you gave, what happens to % when the input is empty? Show the changed lines only.`,
			`Please add a test that would fail if % were wrong, and explain why it would.`,
			`Rewrite the part with % so that it uses less memory, and say what you gave up.`,
		},
		change:  []string{"Thanks, that is enough on this. A different subject: ", "Good, moving on. ", "That helps. Now something else entirely: "},
		empty:   []string{"I got no answer, so let me ask something else. ", "Nothing came back. New question: ", "Still there? Let us try another subject. "},
		unclear: []string{"I could not make sense of that. Another question: ", "That was hard to read, so let us leave it. ", "Let us start afresh with something simpler. "},
	},
	prose.Chinese: {
		sentence: []string{
			"你刚才说“%”，有什么依据？什么情况下不成立？",
			"请把“%”这句话换一种说法，让{role}一听就懂。",
			"关于“%”，能举一个{topic}里的具体例子吗？",
			"如果“%”是错的，你的回答里哪一部分最先站不住脚？",
		},
		number:  []string{"你提到的%是怎么来的？如果{measure}翻倍会怎样？", "%算多吗？跟{measure}的{num}{unit}比较一下。", "请把%重新算一遍，写出每一步。"},
		item:    []string{"你列的几点里，请展开讲讲“%”：最容易出什么问题？", "哪一点比“%”更重要，为什么？", "“%”实际做起来要多久，应该由谁来做？"},
		term:    []string{"你说的“%”到底是什么意思？请解释给新来的{role}听。", "“%”和{measure}有什么关系？"},
		code:    []string{"你给的代码里，输入为空时%会怎样？只写改动的行。", "请为%加一个会失败的测试，并说明原因。"},
		change:  []string{"好的，这个先到这里。换个话题：", "谢谢。再问一件别的事："},
		empty:   []string{"没有收到回答，我换个问题。", "好像没有内容，重新问一个："},
		unclear: []string{"刚才的回答我没看懂，换个问题：", "先不管这个了，问点简单的："},
	},
}
