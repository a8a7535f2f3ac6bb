// Command main uses the client of OpenAPI Generator (go).
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	dragoman "example.com/dragoman/client"
)

const text = "Where is the station?"

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	configuration := dragoman.NewConfiguration()
	configuration.Servers = dragoman.ServerConfigurations{{URL: os.Args[1]}}
	c := dragoman.NewAPIClient(configuration)

	payload := dragoman.NewTranslationPayload("en", []dragoman.TextRecord{*dragoman.NewTextRecord("1", text)})
	payload.SetToLang("fr")
	answer, _, err := c.TranslationAPI.Translate(ctx).TranslationRequest(*dragoman.NewTranslationRequest(*payload)).Execute()
	check(err)
	translation := answer.Result[0].Text
	if translation == "" || translation == text {
		log.Fatalf("the translation is %q", translation)
	}

	job := dragoman.NewJobPayload("en", []dragoman.JobTextRecord{*dragoman.NewJobTextRecord("1", text)})
	job.SetToLang("fr")
	submitted, _, err := c.JobsAPI.SubmitJob(ctx).JobRequest(*dragoman.NewJobRequest(*job)).Execute()
	check(err)
	done := wait(ctx, c, submitted.Job.Id)
	same("job", done.Result[0].Text, translation)

	folder, err := os.MkdirTemp("", "dragoman")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "text.txt")
	check(os.WriteFile(path, []byte(text+"\n"), 0o600))
	file, err := os.Open(path)
	check(err)
	document, _, err := c.DocumentsAPI.SubmitDocument(ctx).File(file).FromLang("en").ToLang("fr").Execute()
	check(err)
	wait(ctx, c, document.Job.Id)
	result, _, err := c.DocumentsAPI.DownloadDocument(ctx, document.Job.Id).Execute()
	check(err)
	content, err := io.ReadAll(result)
	check(err)
	same("document", strings.TrimSpace(string(content)), translation)
}

// wait returns a job that is done.
func wait(ctx context.Context, c *dragoman.APIClient, id string) *dragoman.JobAnswer {
	for {
		answer, _, err := c.JobsAPI.GetJob(ctx, id).Execute()
		check(err)
		switch answer.Job.State {
		case "done":
			return answer
		case "failed", "cancelled":
			log.Fatalf("the job is %s", answer.Job.State)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func same(what, got, want string) {
	if got != want {
		log.Fatalf("the %s is %q, not %q", what, got, want)
	}
	fmt.Println("ok:", what)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
