"""Writes a small tokenizer for the load generators that want one.

Usage: bench-peers-tokenizer.py FOLDER

Its words are made of consonant, vowel, consonant, so that prompts of any length can be
made without a download. The null server's chunks hold one send stamp of 19 digits each,
and one such stamp is one token, as the server's own usage counts it.
"""

import json
import os
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

out = sys.argv[1]
words = ["<unk>", "<s>", "</s>"] + [
    a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"
]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
t.normalizer = normalizers.Replace(Regex(r"\d{19}"), " bab ")
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
os.makedirs(out, exist_ok=True)
t.save(os.path.join(out, "tokenizer.json"))
config = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "model_max_length": 131072,
    "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}",
}
with open(os.path.join(out, "tokenizer_config.json"), "w", encoding="utf-8") as f:
    json.dump(config, f)
