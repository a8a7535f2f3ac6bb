// Command main uses the client of oapi-codegen.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"mime/multipart"
	"os"
	"strings"
	"time"

	"example.com/dragoman/client/api"
)

const text = "Where is the station?"

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	c, err := api.NewClientWithResponses(os.Args[1])
	check(err)

	to := "fr"
	request := api.TranslationRequest{Payload: api.TranslationPayload{FromLang: "en", ToLang: &to, Records: []api.TextRecord{{Id: "1", Text: text}}}}
	answer, err := c.TranslateWithResponse(ctx, nil, request)
	check(err)
	if answer.JSON200 == nil {
		log.Fatalf("the answer is %s", answer.Body)
	}
	translation := answer.JSON200.Result[0].Text
	if translation == "" || translation == text {
		log.Fatalf("the translation is %q", translation)
	}

	job := api.JobRequest{Payload: api.JobPayload{FromLang: "en", ToLang: &to, Records: []api.JobTextRecord{{Id: "1", Text: text}}}}
	submitted, err := c.SubmitJobWithResponse(ctx, nil, job)
	check(err)
	if submitted.JSON202 == nil {
		log.Fatalf("the answer is %s", submitted.Body)
	}
	done := wait(ctx, c, submitted.JSON202.Job.Id)
	same("job", (*done.Result)[0].Text, translation)

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	check(w.WriteField("fromLang", "en"))
	check(w.WriteField("toLang", to))
	part, err := w.CreateFormFile("file", "text.txt")
	check(err)
	_, err = part.Write([]byte(text + "\n"))
	check(err)
	check(w.Close())
	document, err := c.SubmitDocumentWithBodyWithResponse(ctx, nil, w.FormDataContentType(), &form)
	check(err)
	if document.JSON202 == nil {
		log.Fatalf("the answer is %s", document.Body)
	}
	wait(ctx, c, document.JSON202.Job.Id)
	result, err := c.DownloadDocumentWithResponse(ctx, document.JSON202.Job.Id, nil)
	check(err)
	same("document", strings.TrimSpace(string(result.Body)), translation)
}

// wait returns a job that is done.
func wait(ctx context.Context, c *api.ClientWithResponses, id string) *api.JobAnswer {
	for {
		answer, err := c.GetJobWithResponse(ctx, id, nil)
		check(err)
		if answer.JSON200 == nil {
			log.Fatalf("the answer is %s", answer.Body)
		}
		switch answer.JSON200.Job.State {
		case "done":
			return answer.JSON200
		case "failed", "cancelled":
			log.Fatalf("the job is %s", answer.JSON200.Job.State)
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
