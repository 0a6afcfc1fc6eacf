import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';

const client = new Anthropic();
const body = {
  model: process.env.MODEL,
  max_tokens: 1_000,
  messages: [{ role: 'user', content: process.env.PROMPT }],
};
const textOf = ({ content }) =>
  content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('');

const cases = {
  async call() {
    console.log(textOf(await client.messages.create(body)));
  },
  async stream() {
    const stream = client.messages.stream(body);
    stream.on('text', (text) => process.stdout.write(text));
    await stream.finalMessage();
  },
  async tools() {
    const step = betaTool({
      name: 'step',
      description: 'Takes a step',
      inputSchema: { type: 'object', properties: {} },
      run: () => 'taken',
    });
    console.log(textOf(await client.beta.messages.toolRunner({ ...body, tools: [step] })));
  },
  async models() {
    for await (const { id, display_name } of client.models.list({ limit: 5 })) console.log(id, display_name);
    console.log((await client.models.retrieve(body.model)).id);
  },
  async refused() {
    await cases.call();
  },
};
await cases[process.argv[2]]();
