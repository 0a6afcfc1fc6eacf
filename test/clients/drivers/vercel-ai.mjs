import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const { BASE_URL: baseURL, API_KEY: apiKey, MODEL, CLAUDE, PROMPT: prompt } = process.env;
const models = [
  createOpenAI({ baseURL, apiKey })(MODEL),
  createOpenAICompatible({ name: 'tollgate', baseURL, apiKey, includeUsage: true })(MODEL),
  createAnthropic({ baseURL, apiKey })(CLAUDE),
];
const tools = {
  step: tool({
    description: 'Takes a step',
    inputSchema: jsonSchema({ type: 'object', properties: {} }),
    execute: () => 'taken',
  }),
};

const cases = {
  async call() {
    for (const model of models) console.log((await generateText({ model, prompt })).text);
  },
  async stream() {
    for (const model of models) {
      for await (const text of streamText({ model, prompt }).textStream) process.stdout.write(text);
    }
  },
  async tools() {
    for (const model of models) {
      console.log((await generateText({ model, prompt, tools, stopWhen: stepCountIs(20) })).text);
    }
  },
  async refused() {
    console.log((await generateText({ model: models[0], prompt })).text);
  },
};
await cases[process.argv[2]]();
