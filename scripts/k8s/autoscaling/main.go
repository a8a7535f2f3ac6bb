// Command autoscaling simulates days of traffic against the HorizontalPodAutoscaler of
// k8s/deployment.yaml and alternatives to it, and writes docs/autoscaling.md's tables and
// plots. In scripts/k8s:
//
//	go run ./autoscaling
//
// The results are the same on every machine. It takes about a minute on two cores.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	manifest := flag.String("manifest", "../../k8s/deployment.yaml", "file with the Deployment and its HorizontalPodAutoscaler")
	docs := flag.String("docs", "../../docs", "folder with autoscaling.md")
	flag.Parse()
	if err := write(ctx, *manifest, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "autoscaling:", err)
		os.Exit(1)
	}
}

// write simulates, and writes what came out into the folder of documents.
func write(ctx context.Context, manifest, docs string) error {
	base, err := shipped(manifest)
	if err != nil {
		return err
	}
	tables := study(base)
	if err := run(ctx, tables); err != nil {
		return err
	}
	path := filepath.Join(docs, "autoscaling.md")
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(document)
	for _, t := range tables {
		if text, err = insert(text, t.key, t.markdown()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	return drawPlots(filepath.Join(docs, "autoscaling"), tables)
}

// insert replaces what stands between the markers of a key in a document.
func insert(document, key, text string) (string, error) {
	begin, end := "<!-- autoscaling:"+key+" -->\n", "<!-- /autoscaling:"+key+" -->"
	before, rest, begins := strings.Cut(document, begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return "", fmt.Errorf("the document has no lines %q and %q", strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}

// markdown is a table as the document has it. All numbers are means of the days.
func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| a pod starts in | %s | lost, %% | on the worst day | refused, %% | too late, %% | p95, s | p99, s | pod-hours | changes |\n", t.head)
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range t.rows {
		name := r.name
		if name == asShipped {
			name = "**" + name + "**"
		}
		worst := slices.MaxFunc(r.runs, func(a, b *result) int { return int(1e9 * (a.lost() - b.lost())) })
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.2f | %.2f | %.0f | %.0f |\n", shortTime(r), name,
			percent(r.mean((*result).lost)), percent(worst.lost()),
			percent(r.mean(func(d *result) float64 { return d.share(refused) })), percent(r.mean(func(d *result) float64 { return d.share(late) })),
			r.mean(func(d *result) float64 { return d.p95 }), r.mean(func(d *result) float64 { return d.p99 }),
			r.mean(func(d *result) float64 { return d.podHours }), r.mean(func(d *result) float64 { return float64(d.changes) }))
	}
	return b.String()
}

// mean of a number over the days.
func (r *row) mean(of func(*result) float64) float64 {
	sum := 0.0
	for _, day := range r.runs {
		sum += of(day)
	}
	return sum / float64(len(r.runs))
}

// shortTime is a row's start, such as "4 min".
func shortTime(r *row) string {
	if r.start.Minutes() < 1 {
		return fmt.Sprintf("%.0f s", r.start.Seconds())
	}
	return fmt.Sprintf("%.0f min", r.start.Minutes())
}

// percent has two digits that count, and says where nothing at all was lost.
func percent(p float64) string {
	switch {
	case p == 0:
		return "0"
	case p < 0.01:
		return "< 0.01"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}
