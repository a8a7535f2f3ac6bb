package httpapi

import "dragoman/app/text/markup"

// outlineInput is payload.xml, which configures the segmentation of XML.
type outlineInput struct {
	SplittingTags    optional[[]string] `json:"splittingTags"`
	NonSplittingTags optional[[]string] `json:"nonSplittingTags"`
	OutlineDetection optional[bool]     `json:"outlineDetection"`
	SplitLines       optional[bool]     `json:"splitLines"`
}

func (o outlineInput) outline() markup.Outline {
	return markup.Outline{
		Splitting: o.SplittingTags.value, NonSplitting: o.NonSplittingTags.value,
		Undetected: o.OutlineDetection.set && !o.OutlineDetection.value, Lines: o.SplitLines.value,
	}
}
