import OpenAI from 'openai';

const client = new OpenAI();
const model = process.env.MODEL;
const PROMPT = process.env.PROMPT;
const tool = { name: 'step', description: 'Takes a step', parameters: { type: 'object', properties: {} } };

const cases = {
  async call() {
    const messages = [{ role: 'user', content: PROMPT }];
    const chat = await client.chat.completions.create({ model, messages });
    console.log(chat.choices[0].message.content);
    console.log((await client.responses.create({ model, input: PROMPT })).output_text);
  },
  async stream() {
    const messages = [{ role: 'user', content: PROMPT }];
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      process.stdout.write(chunk.choices[0]?.delta.content ?? '');
    }
    for await (const event of await client.responses.create({ model, input: PROMPT, stream: true })) {
      if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
    }
  },
  async tools() {
    const runner = client.chat.completions.runTools(
      {
        model,
        messages: [{ role: 'user', content: PROMPT }],
        tools: [{ type: 'function', function: { ...tool, function: () => 'taken', parse: JSON.parse } }],
      },
      { maxChatCompletions: 20 },
    );
    console.log(await runner.finalContent());
    const input = [{ role: 'user', content: PROMPT }];
    for (;;) {
      const answer = await client.responses.create({ model, input, tools: [{ type: 'function', ...tool }] });
      const calls = answer.output.filter(({ type }) => type === 'function_call');
      if (calls.length === 0) return console.log(answer.output_text);
      input.push(...answer.output);
      for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'taken' });
    }
  },
  async models() {
    for await (const { id } of client.models.list()) console.log(id);
    console.log((await client.models.retrieve(model)).id);
  },
  async refused() {
    console.log((await client.responses.create({ model, input: PROMPT })).output_text);
  },
};
await cases[process.argv[2]]();
