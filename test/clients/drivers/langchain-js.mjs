import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';

const { BASE_URL, API_KEY: apiKey, MODEL, CLAUDE, PROMPT } = process.env;
const configuration = { baseURL: `${BASE_URL}/v1` };
const models = [
  new ChatOpenAI({ model: MODEL, apiKey, configuration }),
  new ChatOpenAI({ model: MODEL, apiKey, configuration, useResponsesApi: true }),
  new ChatAnthropic({ model: CLAUDE, apiKey, anthropicApiUrl: BASE_URL, maxTokens: 1_000 }),
];
const schema = { type: 'object', properties: {} };
const step = tool(() => 'taken', { name: 'step', description: 'Takes a step', schema });

const cases = {
  async call() {
    for (const model of models) console.log((await model.invoke(PROMPT)).text);
  },
  async stream() {
    for (const model of models)
      for await (const { text } of await model.stream(PROMPT)) process.stdout.write(text);
  },
  async tools() {
    for (const model of models) {
      const messages = [new HumanMessage(PROMPT)];
      for (;;) {
        const answer = await model.bindTools([step]).invoke(messages);
        messages.push(answer);
        if (!answer.tool_calls?.length) break;
        for (const { id } of answer.tool_calls)
          messages.push(new ToolMessage({ content: 'taken', tool_call_id: id }));
      }
      console.log(messages.at(-1).text);
    }
  },
  async refused() {
    console.log((await models[0].invoke(PROMPT)).text);
  },
};
await cases[process.argv[2]]();
