package family

// small100 is SMaLL-100 (alirezamsh/small100). It has M2M100's files, but the token of the target language is in the source, not in the
// translation.
var small100 = &Family{
	Name:     "small100",
	classes:  []string{"SMALL100Tokenizer"},
	origins:  []string{"small100", "small-100"},
	networks: m2m100Networks,
	files:    m2m100Files,
	tokens:   m2m100Tokens,
	framing:  targetFirst,
	config:   m2m100Config,
}
