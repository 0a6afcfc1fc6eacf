import Anthropic from '@anthropic-ai/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import OpenAI from 'openai';
import { type Test, test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { sampleOf } from '../../src/demo/sample.ts';

/** A schema as generators of schemas write them: references, choices, formats, bounds. */
const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 8, maxLength: 10 },
    born: { type: 'string', format: 'date' },
    kind: { enum: ['person', 'company'] },
    age: { type: 'integer', minimum: 18, multipleOf: 5 },
    share: { type: 'number', exclusiveMinimum: 5, exclusiveMaximum: 5.5 },
    note: { anyOf: [{ type: 'null' }, { type: 'string' }] },
    steps: { type: 'array', minItems: 2, items: { $ref: '#/$defs/step' } },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'boolean' }] },
    both: { allOf: [{ $ref: '#/$defs/step' }, { properties: { last: { const: 3 } }, required: ['last'] }] },
    optional: { type: 'string' },
  },
  required: ['name', 'born', 'kind', 'age', 'share', 'note', 'steps', 'pair', 'both'],
  additionalProperties: false,
  $defs: {
    step: { type: 'object', properties: { text: { type: ['string', 'null'] } }, required: ['text'] },
  },
};

const fits = addFormats.default(new Ajv2020({ allowUnionTypes: true, strictTuples: false })).compile(SCHEMA);

const messages = [{ role: 'user' as const, content: 'Hello' }];

async function start(t: Test) {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  return {
    openai: new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` }),
    anthropic: new Anthropic({ apiKey: 'none', baseURL: provider.url }),
  };
}

test('a sample fits its schema', (t) => {
  const sample = sampleOf(SCHEMA);
  t.ok(fits(sample), JSON.stringify(fits.errors));
  t.notOk(Object.hasOwn(sample as object, 'optional'));
  const self = { $ref: '#' };
  const names = ['a', 'b', 'c', 'd'];
  const properties = Object.fromEntries(names.map((name) => [name, { allOf: [self, self] }]));
  const endless = { ...self, type: 'object', properties, required: names };
  t.type(sampleOf(endless), 'object', 'a schema that contains itself ends');
  const tree = { type: 'object', properties: { all: { type: 'array', items: self } }, required: ['all'] };
  t.notMatch(JSON.stringify(sampleOf(tree)), /null/, 'also in lists, which are empty at last');
  for (const schema of [true, null, {}, { type: 'object' }, { $ref: '#/$defs/none' }]) {
    t.doesNotThrow(() => sampleOf(schema));
  }
  t.end();
});

test('structured output fits the schema, in all three formats', async (t) => {
  const { openai, anthropic } = await start(t);
  const text = { type: 'json_schema' as const, schema: SCHEMA };
  const chat = await openai.chat.completions.create({
    model: 'demo-chat',
    messages,
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } },
  });
  const response = await openai.responses.create({
    model: 'demo-chat',
    input: 'Hello',
    text: { format: { ...text, name: 'x' } },
  });
  const message = await anthropic.messages.create({
    model: 'demo-chat',
    max_tokens: 1_000,
    messages,
    output_config: { format: text },
  });
  const [block] = message.content;
  for (const said of [
    chat.choices[0]?.message.content,
    response.output_text,
    block?.type === 'text' && block.text,
  ]) {
    t.ok(fits(JSON.parse(String(said))), JSON.stringify(fits.errors));
  }
});

test('json_object answers a JSON object, streamed too', async (t) => {
  const { openai } = await start(t);
  const request = { model: 'demo-chat', messages, response_format: { type: 'json_object' as const } };
  const plain = await openai.chat.completions.create(request);
  const said = String(plain.choices[0]?.message.content);
  t.match(JSON.parse(said), { answer: /You said: Hello$/ });
  let streamed = '';
  for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true })) {
    streamed += choices[0]?.delta.content ?? '';
  }
  t.equal(streamed, said);
});

test('a demanded tool gets the arguments that it requires, in all three formats', async (t) => {
  const { openai, anthropic } = await start(t);
  const called = { name: 'look_up', description: 'Looks up' };
  const chat = await openai.chat.completions.create({
    model: 'demo-chat',
    messages,
    tools: [{ type: 'function', function: { ...called, parameters: SCHEMA } }],
    tool_choice: 'required',
  });
  const response = await openai.responses.create({
    model: 'demo-chat',
    input: 'Hello',
    tools: [{ type: 'function', ...called, parameters: SCHEMA, strict: true }],
    tool_choice: 'required',
  });
  const streamed = anthropic.messages.stream({
    model: 'demo-chat',
    max_tokens: 1_000,
    messages,
    tools: [{ ...called, input_schema: { ...SCHEMA, type: 'object' } }],
    tool_choice: { type: 'any' },
  });
  const [call] = chat.choices[0]?.message.tool_calls ?? [];
  const [item] = response.output;
  const [block] = (await streamed.finalMessage()).content;
  for (const input of [
    call?.type === 'function' && JSON.parse(call.function.arguments),
    item?.type === 'function_call' && JSON.parse(item.arguments),
    block?.type === 'tool_use' && block.input,
  ]) {
    t.ok(fits(input), JSON.stringify(fits.errors));
  }
});

test('answers are dated now', async (t) => {
  const { openai } = await start(t);
  const before = Math.floor(Date.now() / 1_000);
  const { created } = await openai.chat.completions.create({ model: 'demo-chat', messages });
  const video = await openai.videos.create({ model: 'demo-video', prompt: 'A cat' });
  for (const at of [created, video.created_at]) t.ok(at >= before && at <= Date.now() / 1_000);
});
