package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

var (
	ctx    = context.Background()
	client = openai.NewClient()
	model  = os.Getenv("MODEL")
	prompt = os.Getenv("PROMPT")
	schema = map[string]any{"type": "object", "properties": map[string]any{}}
)

func must[T any](value T, err error) T {
	var refusal *openai.Error
	if errors.As(err, &refusal) {
		fmt.Fprintln(os.Stderr, refusal.Message)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func chatParams() openai.ChatCompletionNewParams {
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}
	return openai.ChatCompletionNewParams{Model: model, Messages: messages}
}

func responseParams(items responses.ResponseInputParam) responses.ResponseNewParams {
	input := responses.ResponseNewParamsInputUnion{OfInputItemList: items}
	return responses.ResponseNewParams{Model: model, Input: input}
}

func asked() responses.ResponseInputParam {
	return responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
	}
}

func refused() {
	fmt.Println(must(client.Responses.New(ctx, responseParams(asked()))).OutputText())
}

func call() {
	fmt.Println(must(client.Chat.Completions.New(ctx, chatParams())).Choices[0].Message.Content)
	refused()
}

func stream() {
	chat := client.Chat.Completions.NewStreaming(ctx, chatParams())
	for chat.Next() {
		for _, choice := range chat.Current().Choices {
			fmt.Print(choice.Delta.Content)
		}
	}
	must(0, chat.Err())
	events := client.Responses.NewStreaming(ctx, responseParams(asked()))
	for events.Next() {
		if event := events.Current(); event.Type == "response.output_text.delta" {
			fmt.Print(event.Delta)
		}
	}
	must(0, events.Err())
}

func tools() {
	chat := chatParams()
	step := openai.FunctionDefinitionParam{Name: "step", Parameters: schema}
	chat.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(step)}
	for {
		message := must(client.Chat.Completions.New(ctx, chat)).Choices[0].Message
		chat.Messages = append(chat.Messages, message.ToParam())
		for _, used := range message.ToolCalls {
			chat.Messages = append(chat.Messages, openai.ToolMessage("taken", used.ID))
		}
		if len(message.ToolCalls) == 0 {
			fmt.Println(message.Content)
			break
		}
	}
	items := asked()
	for {
		params := responseParams(items)
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("step", schema, false)}
		answer := must(client.Responses.New(ctx, params))
		isOver := true
		for _, item := range answer.Output {
			// As it came.
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
			if item.Type != "function_call" {
				continue
			}
			isOver = false
			output := responses.ResponseInputItemParamOfFunctionCallOutput("taken")
			output.OfFunctionCallOutput.CallID = openai.String(item.AsFunctionCall().CallID)
			items = append(items, output)
		}
		if isOver {
			fmt.Println(answer.OutputText())
			return
		}
	}
}

func models() {
	list := client.Models.ListAutoPaging(ctx)
	for list.Next() {
		fmt.Println(list.Current().ID)
	}
	must(0, list.Err())
	fmt.Println(must(client.Models.Get(ctx, model)).ID)
}

func main() {
	map[string]func(){"call": call, "stream": stream, "tools": tools, "models": models, "refused": refused}[os.Args[1]]()
}
