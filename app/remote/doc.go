// Package remote translates by language models behind OpenAI-compatible servers, such as vLLM, llama.cpp or Ollama.
//
//	Engine.Stream ─▶ session ─▶ queue ─▶ slots ─▶ Client ─▶ server
//	                 (a window   (fair between   (as many calls as the
//	                 at a time)   callers)        server has slots)
//
// [Engine] is an engine like package engine's, with the same sessions, admission and order of callers; a call of the server takes
// the place of a row in a batch. What the server is told of a job, and what its answer means, is the business of a [Dialect]:
// [Chat] writes prompts by a profile (package model/prompt/profile) and reads answers (answer.go), which may be refusals, or have
// text beside the translation. The package translate sees only tokens: [Tokenizer] packs text into ids without loss.
package remote
