package main

import (
	"context"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
)

var (
	ctx    = context.Background()
	client = anthropic.NewClient()
	model  = anthropic.Model(os.Getenv("MODEL"))
	prompt = os.Getenv("PROMPT")
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func params() anthropic.MessageNewParams {
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))}
	return anthropic.MessageNewParams{Model: model, MaxTokens: 1_000, Messages: messages}
}

func call() {
	for _, block := range must(client.Messages.New(ctx, params())).Content {
		fmt.Print(block.Text)
	}
}

func stream() {
	events := client.Messages.NewStreaming(ctx, params())
	for events.Next() {
		if event := events.Current(); event.Type == "content_block_delta" {
			fmt.Print(event.Delta.Text)
		}
	}
	must(0, events.Err())
}

type nothing struct{}

func step(context.Context, nothing) (anthropic.BetaToolResultBlockParamContentUnion, error) {
	return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: "taken"}}, nil
}

func tools() {
	tool := must(toolrunner.NewBetaToolFromJSONSchema("step", "Takes a step", step))
	asked := anthropic.BetaMessageNewParams{
		Model:     model,
		MaxTokens: 1_000,
		Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(prompt))},
	}
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{BetaMessageNewParams: asked})
	for _, block := range must(runner.RunToCompletion(ctx)).Content {
		fmt.Print(block.Text)
	}
}

func models() {
	list := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(5)})
	for list.Next() {
		fmt.Println(list.Current().ID, list.Current().DisplayName)
	}
	must(0, list.Err())
	fmt.Println(must(client.Models.Get(ctx, string(model), anthropic.ModelGetParams{})).ID)
}

func main() {
	map[string]func(){"call": call, "stream": stream, "tools": tools, "models": models, "refused": call}[os.Args[1]]()
}
