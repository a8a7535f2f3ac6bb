package deepl

import (
	"slices"
	"strings"

	"dragoman/app/compat"
	"dragoman/app/translate"
)

// choices are the options that have one of a few values.
func choices() []choice {
	return []choice{
		{"split_sentences", []string{"0", "1", "nonewlines"}},
		{"formality", []string{"default", "more", "less", "prefer_more", "prefer_less"}},
		{"tag_handling", []string{"xml", "html"}},
		{"tag_handling_version", []string{"v1", "v2"}},
		{"model_type", []string{"quality_optimized", "prefer_quality_optimized", "latency_optimized"}},
	}
}

type choice struct {
	name   string
	values []string
}

// refused are the options that a translation would not show, each with what the
// sender is told.
func refused() []refusal {
	return []refusal{
		{"style_id", "This server has no style rules."},
		{"custom_instructions", "This server takes no instructions."},
		{"translation_memory_id", "This server has no translation memories."},
	}
}

type refusal struct{ name, hint string }

// options reads the options of a request and refuses what cannot be done.
func (req *request) options(fields compat.Fields) error {
	chosen := map[string]string{}
	for _, c := range choices() {
		value, err := fields.Text(c.name)
		if err != nil {
			return err
		}
		if value != "" && !slices.Contains(c.values, value) {
			return unsupported(c.name, "Use one of "+strings.Join(c.values, ", ")+".")
		}
		chosen[c.name] = value
	}
	if f := chosen["formality"]; f == "more" || f == "less" {
		return compat.Refuse("'formality' is not supported for given 'target_lang'.")
	}
	var err error
	if format := chosen["tag_handling"]; format != "" {
		req.format = translate.Format(format)
		if req.ignored, err = ignoredTags(fields); err != nil {
			return err
		}
	}
	req.whole = chosen["split_sentences"] == "0"
	req.wrapped = chosen["split_sentences"] == "nonewlines"
	req.model = strings.TrimPrefix(chosen["model_type"], "prefer_")

	for _, r := range refused() {
		if fields.Given(r.name) {
			return unsupported(r.name, r.hint)
		}
	}
	if err := req.readOutline(fields); err != nil {
		return err
	}
	if _, err := fields.Bool("preserve_formatting"); err != nil {
		return err
	}
	req.billed, err = fields.Bool("show_billed_characters")
	return err
}
