package gpucheck

import "strings"

// chrF is the character n-gram F-score (n to 6, recall counts twice) of translations,
// in percent, as sacrebleu computes it for a corpus: without spaces, averaged over n.
func chrF(ours, references []string) float64 {
	const most, beta2 = 6, 4
	var matches, mine, theirs [most]float64
	for i := range ours {
		a, b := []rune(strings.ReplaceAll(ours[i], " ", "")), []rune(strings.ReplaceAll(references[i], " ", ""))
		for n := 1; n <= most; n++ {
			counts := ngrams(b, n)
			for gram, count := range ngrams(a, n) {
				matches[n-1] += float64(min(count, counts[gram]))
			}
			mine[n-1] += float64(max(len(a)-n+1, 0))
			theirs[n-1] += float64(max(len(b)-n+1, 0))
		}
	}
	precision, recall, orders := 0.0, 0.0, 0.0
	for n := range most {
		if mine[n] > 0 && theirs[n] > 0 {
			precision, recall, orders = precision+matches[n]/mine[n], recall+matches[n]/theirs[n], orders+1
		}
	}
	if precision+recall == 0 {
		return 0
	}
	precision, recall = precision/orders, recall/orders
	return 100 * (1 + beta2) * precision * recall / (beta2*precision + recall)
}

func ngrams(text []rune, n int) map[string]int {
	counts := map[string]int{}
	for i := 0; i+n <= len(text); i++ {
		counts[string(text[i:i+n])]++
	}
	return counts
}
