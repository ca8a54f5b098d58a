package text

// The patterns of replies. A slot is {k} a word of the prompt, {n} a noun, {a} an
// adjective, {v} a verb, {d} a number.
var (
	openers = []string{
		"That is a fair question, and the short version is that {k} depends on the {n} you start from.",
		"Looking at {k} first makes the rest easier to follow.",
		"There are two ways to think about {k}, and they lead to different choices about the {n}.",
		"Good timing to ask about {k}, because the {a} part is often decided before anyone looks at the {n}.",
		"I would begin with {k} and leave the {n} for later.",
		"The most {a} thing about {k} is how much it follows from {k}.",
		"Let me take {k} step by step.",
		"Most people approach {k} by asking how to {v} the {n}, and that is only half of it.",
		"For {k}, a {a} plan usually beats a clever one.",
		"Before we {v} anything, it helps to say what {k} should achieve.",
		"You can {v} {k} in about {d} minutes once the {n} is settled.",
		"Here is how I would explain {k} to someone who knows {k} but not the {n}.",
	}
	middles = []string{
		"The {n} matters more than it seems, since every change to it reaches {k} a little later.",
		"When {k} grows, the {n} has to {v} with it or the whole thing becomes {a}.",
		"A {a} example is a small team that kept {k} apart from the {n} and saved {d} hours a month.",
		"If you {v} {k} too early, the {n} will still look {a} and you learn nothing.",
		"In practice I would write down three facts about {k}, check the {n}, and only then {v} it.",
		"It is tempting to treat {k} and {k} as the same thing, but one is {a} and the other is not.",
		"About {d} percent of the effort goes into the {n}, and very little into {k} itself.",
		"Some would rather {v} the {n} by hand, which works as long as {k} stays {a}.",
		"The risk is a {a} {n} that nobody owns, because then {k} is only noticed when it fails.",
		"Compare that with {k}, where the {n} is {a} from the first day.",
		"You can test this by changing only {k} and watching whether the {n} moves.",
		"That also explains why {k} looks {a} in the morning and {a} by the evening.",
		"One detail about {k} is easy to miss: the {n} has to be ready before you {v} anything.",
		"After {d} days the difference between a {a} and a {a} {n} is plain to see.",
		"Keep {k} simple, name the {n}, and agree on who may {v} it.",
		"Where {k} is concerned, a short note about the {n} is worth more than a long one about {k}.",
		"The second step is to {v} the {n} and see what happens to {k}.",
		"None of this needs {k} to be perfect; it needs the {n} to be {a} enough.",
		"A {n} of {d} would be plenty, and anything above that only makes {k} harder to {v}.",
		"People who work with {k} every day tend to {v} the {n} first and ask about {k} afterwards.",
		"Because of that, {k} rarely fails alone: the {n} goes with it.",
		"On the other hand, a {a} {n} leaves room to {v} {k} later.",
		"Think of {k} as the {n} that everything else leans on.",
		"It costs little to {v} {k} twice, and a {a} mistake shows at once.",
	}
	closers = []string{
		"Would you like me to go further into {k} or into the {n}?",
		"If you tell me more about {k}, I can suggest a {a} next step.",
		"Start with {k}, look at the {n} after a week, and adjust.",
		"That should be enough to {v} {k} without touching the {n}.",
		"Does the part about {k} match what you see on your side?",
		"In short: {k} first, the {n} second, and nothing {a} in between.",
		"I can write the {n} out in full if that helps with {k}.",
		"Which matters more to you here, {k} or a {a} {n}?",
	}
	workings = []string{
		"Let me work it out in steps.", "Step by step:", "I will go through the numbers in order.",
		"First I collect what is known.", "Here is the working.",
	}
	joins = []string{
		"Putting them together in the order of the text gives two parts.",
		"Each of them is used once, and the result has two parts.",
		"I split the result into the part that comes first and the rest.",
	}
	nouns = []string{
		"budget", "schedule", "boundary", "record", "garden", "harbour", "recipe", "ledger", "signal", "measure", "window", "kitchen",
		"bridge", "archive", "margin", "pattern", "contract", "journey", "engine", "library", "weather", "orchard", "baseline", "draft",
		"deadline", "workshop", "village", "routine", "compass", "outline",
	}
	adjectives = []string{
		"steady", "plain", "careful", "narrow", "early", "shared", "quiet", "costly", "useful", "fragile", "stable", "rough", "honest",
		"local", "seasonal", "modest", "firm", "open", "gradual", "brittle",
	}
	verbs = []string{
		"measure", "repair", "compare", "shorten", "publish", "prepare", "divide", "review", "move", "replace", "describe", "collect",
		"simplify", "defend", "adjust", "question", "plant", "borrow", "trace", "balance",
	}
	stop = set("about", "above", "after", "again", "against", "another", "answer", "because", "before", "being", "below", "between",
		"could", "doing", "during", "every", "everything", "first", "given", "going", "having", "itself", "might", "other", "please",
		"question", "really", "right", "shall", "should", "since", "something", "their", "theirs", "there", "these", "thing", "things",
		"think", "those", "through", "under", "until", "using", "where", "which", "while", "whose", "would", "write", "yours", "assistant",
		"system", "number", "final", "helpful")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
