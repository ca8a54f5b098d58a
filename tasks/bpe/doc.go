// Package bpe counts tokens with the tokenizer.json of a Hugging Face model: byte-level
// byte-pair encoding with the splitting rules of GPT-2, cl100k and Llama 3, Qwen 2,
// o200k, and SmolLM.
//
// A file that asks for anything else is refused with the thing named; nothing is guessed.
// Vocabularies are read from a path that the user gives and never fetched.
package bpe
