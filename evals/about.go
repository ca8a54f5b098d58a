package evals

// About says in two sentences what the items of a kind ask and what they cannot show. It
// is "" for an unknown kind.
func About(kind string) string {
	switch kind {
	case KindMaths:
		return "Word problems with one exact number for an answer, found by rule. They do not see a right number reached by wrong steps, nor damage in answers much longer than a page."
	case KindCode:
		return "Functions written from a description and run against tests in a sandbox. They do not see what the tests leave out, nor anything but small programs in Python."
	case KindFacts:
		return "Short questions about stable facts and small sums. Good models answer nearly all of them, so they show a broken server and no small loss."
	case KindFormat:
		return "Demands on the form of an answer, checked by schema or pattern. They do not look at what the answer says."
	case KindChoice:
		return "Four options, one letter; guessing scores a quarter. They see a single token, so no damage that grows with length."
	case KindLong:
		return "Questions about a generated log book, by length and depth. The text is plainer than real documents: a right answer shows that the place was read, not that the whole was understood."
	}
	return ""
}
