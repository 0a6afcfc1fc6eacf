import { test } from 'tap';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';
import { startMediaGateway } from '../../helper/start/media-gateway.ts';

const DEPTH = 100_000;
/** Each level is long. */
const LESS = 20_000;
const nest = (open: string, close: string, depth = DEPTH) => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Deeper than any stack: recursion over it throws. */
const DEEP = {
  lists: nest('[', ']'),
  objects: nest('{"a":', '}'),
  parts: nest('{"content":[', ']}', LESS),
  outputs: nest('{"type":"function_call_output","output":', '}', LESS),
  sources: nest('{"type":"document","source":{"type":"content","content":', '}}', LESS),
} as const;

const MODELS = {
  '/v1/chat/completions': 'tokens',
  '/v1/completions': 'tokens',
  '/v1/responses': 'tokens',
  '/v1/embeddings': 'tokens',
  '/v1/responses/compact': 'tokens',
  '/v1/responses/input_tokens': 'flat',
  '/v1/moderations': 'flat',
  '/v1/messages': 'claude',
  '/v1/messages/count_tokens': 'claude-flat',
  '/v1/images/generations': 'painter',
  '/v1/audio/speech': 'voice',
} as const;

/** The text of the client, and what it is nested in. */
const NESTED: readonly (readonly [field: string, kinds: readonly (keyof typeof DEEP)[]])[] = [
  ['messages', ['lists', 'parts', 'outputs', 'sources']],
  ['input', ['lists', 'parts', 'outputs', 'sources']],
  ['prompt', ['lists']],
  ['tools', ['lists', 'objects']],
  ['system', ['parts']],
  ['stream_options', ['objects']],
  ['metadata', ['objects']],
  ['__proto__', ['objects']],
];

for (const [path, model] of Object.entries(MODELS)) {
  test(`JSON of a depth of ${DEPTH} at ${path} is checked, sent on or refused, and never a fault`, async (t) => {
    const world = await startMediaGateway(t, () => ({ body: {} }));
    const account = await world.account({ credits: 1_000_000_000 });
    for (const [field, kinds] of NESTED) {
      for (const kind of kinds) {
        const body = `{"model":"${model}","max_tokens":1,"${field}":[${DEEP[kind]}]}`;
        const { status } = await world.post(account.key, path, body);
        t.ok([200, 400, 404].includes(status), `${field} of deep ${kind}: ${status}`);
      }
    }
    t.match(await world.held(account), { held: 0 });
  });
}

test('deep JSON at the keys API and the operator API is refused as a wrong value', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const path of ['/api/keys/', '/api/keys/1/explain/', '/api/admin/accounts/']) {
    for (const field of ['name', 'allowed_models', 'model', 'email', '__proto__']) {
      const token = path.startsWith('/api/admin/') ? ADMIN_TOKEN : key;
      const body = `{"${field}":${DEEP.lists}}`;
      t.equal((await world.api('POST', path, token, body)).status, 400, `${path} ${field}`);
    }
  }
});

const SCHEMA = `${'{"description":"word","items":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
const TOOLS = `[{"type":"function","parameters":${SCHEMA}}]`;
const STREAMS = {
  '/v1/responses': ['"input":"a"', 'data: {"type":"response.output_text.delta","delta":"a"}\n\n'],
  '/v1/chat/completions': ['"messages":[]', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
} as const;

for (const [path, [said, event]] of Object.entries(STREAMS)) {
  test(`a stream at ${path} that breaks off is charged by its deep tools: depth makes no call free`, async (t) => {
    const world = await startMediaGateway(t, () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: [event, 'data: {}\n\n'],
      breakAfter: 1,
    }));
    const account = await world.account();
    const body = `{"model":"tokens","max_tokens":1,"max_output_tokens":1,"stream":true,${said},"tools":${TOOLS}}`;
    await t.rejects((await world.post(account.key, path, body)).text());
    const { credits, estimated } = await world.charged(account);
    t.equal(estimated, true);
    t.ok(-credits > 10_000 * 1_000, `${-credits} micro-credits for 10,000 words and more`);
  });
}
