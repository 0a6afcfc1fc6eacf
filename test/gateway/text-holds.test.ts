import { test } from 'tap';
import type { Catalog } from '../../src/domain/catalog.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { referencedIds } from '../../src/gateway/resources/referenced-ids.ts';
import { jsonBodyOf } from '../helper/fixtures/asked.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { testCatalog } from '../helper/start/gateway-in-process.ts';

const BOUNDS = { imageTokens: 1_000, contextTokens: 100_000, toolRounds: 3, toolTokens: 50_000 };

/** The hold of a call of a model that costs one credit a token, in or out: a number of tokens. */
function holdOf(path: string, body: Record<string, unknown>, storedTokens = 0): number {
  const endpoint = ENDPOINTS.find((candidate) => candidate.path === path);
  const base = testCatalog('http://127.0.0.1').get(endpoint?.format === 'anthropic' ? 'claude' : 'tokens');
  if (!endpoint || !base) throw new Error('no endpoint or model');
  const price = creditPrice({ input: 1_000_000, output: 1_000_000 });
  const catalog: Catalog = new Map([['m', { ...base, slug: 'm', price }]]);
  const read = jsonBodyOf(Buffer.from(JSON.stringify({ model: 'm', ...body })), catalog, endpoint);
  return endpoint.meter.plan(read).cost({ ...BOUNDS, storedTokens }).hold / 1e6;
}

const TEXT = 'Ünïcödé, 日本語 😀 '.repeat(50);
/** Tokens of TEXT in o200k_base. */
const TOKENS = 402;
const IDS = Array.from({ length: 500 }, (_, index) => index % 10);
const PNG = `data:image/png;base64,${'A'.repeat(100_000)}`;

test('completions: every prompt, every completion that is made, and its echo', (t) => {
  const hold = (body: Record<string, unknown>) => holdOf('/v1/completions', { max_tokens: 100, ...body });
  const fixed = hold({ prompt: 'x', max_tokens: 1 });
  t.ok(hold({ prompt: TEXT }) >= TOKENS + 100);
  t.ok(hold({ prompt: [TEXT, TEXT, TEXT] }) >= 3 * (TOKENS + 100));
  t.ok(hold({ prompt: IDS }) >= 600);
  t.ok(hold({ prompt: IDS }) < 600 + 700 + fixed, 'one prompt, not five hundred');
  t.ok(hold({ prompt: [IDS, IDS] }) >= 2 * 600);
  t.ok(hold({ prompt: 'x', n: 3 }) - fixed >= 300);
  t.ok(hold({ prompt: 'x', n: 2, best_of: 5 }) - fixed >= 500);
  t.ok(hold({ prompt: TEXT, echo: true, n: 2 }) >= TOKENS + 2 * (TOKENS + 100));
  t.ok(holdOf('/v1/completions', { prompt: 'x' }) >= 1_000, 'maxOutputTokens of the model');
  t.throws(() => hold({ prompt: 'x', best_of: -1 }), { code: 'invalid_field', param: 'best_of' });
  t.end();
});

test('embeddings: input only', (t) => {
  t.ok(holdOf('/v1/embeddings', { input: [TEXT, TEXT] }) >= 2 * TOKENS);
  t.ok(holdOf('/v1/embeddings', { input: IDS }) >= 500);
  t.ok(holdOf('/v1/embeddings', { input: 'x' }) < 200, 'no output');
  t.end();
});

test('moderations and count_tokens: nothing for tokens', (t) => {
  t.equal(holdOf('/v1/moderations', { input: TEXT }), 0);
  t.equal(holdOf('/v1/messages/count_tokens', { messages: [{ role: 'user', content: TEXT }] }), 0);
  t.end();
});

test('responses: text, media, stored context and the provider’s tools', (t) => {
  const hold = (body: Record<string, unknown>, stored?: number) =>
    holdOf('/v1/responses', { max_output_tokens: 100, ...body }, stored);
  const fixed = hold({ input: 'x' });
  t.ok(hold({ input: TEXT, instructions: TEXT }) >= 2 * TOKENS + 100);
  t.ok(holdOf('/v1/responses', { input: 'x' }) - fixed >= 900 - 30, 'maxOutputTokens of the model');
  const image = [{ role: 'user', content: [{ type: 'input_image', image_url: PNG }] }];
  t.ok(hold({ input: image }) - fixed >= 1_000);
  t.ok(hold({ input: image }) - fixed < 1_300, 'base64 is not text');
  const shot = [{ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: PNG } }];
  t.ok(hold({ input: shot }) - fixed < 1_300);
  const call = [{ type: 'function_call', call_id: 'c', name: 'f', arguments: PNG }];
  t.equal(hold({ input: call }), 100_000 + 100, 'arguments are text, whatever they look like');
  t.equal(hold({ input: 'x' }, 5_000) - fixed, 5_000);
  const search = { type: 'web_search' };
  t.ok(hold({ input: 'x', tools: [search] }) - fixed >= 250_000);
  t.ok(hold({ input: 'x', tools: [search], max_tool_calls: 2 }) - fixed < 152_000);
  t.ok(hold({ input: 'x', tools: [{ type: 'function', name: 'f', parameters: {} }] }) - fixed < 300);
  t.end();
});

test('messages: system, media, documents, tools and thinking', (t) => {
  const hold = (body: Record<string, unknown>) =>
    holdOf('/v1/messages', { max_tokens: 100, messages: [{ role: 'user', content: 'x' }], ...body });
  const withBlock = (block: unknown) => hold({ messages: [{ role: 'user', content: [block] }] });
  const fixed = hold({});
  t.ok(hold({ system: TEXT, messages: [{ role: 'user', content: TEXT }] }) >= 2 * TOKENS + 100);
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) },
  };
  t.ok(withBlock(image) - fixed >= 1_000);
  t.ok(withBlock(image) - fixed < 1_300, 'base64 is not text');
  const inResult = { type: 'tool_result', tool_use_id: 't', content: [image] };
  t.ok(withBlock(inResult) - fixed >= 1_000);
  t.ok(withBlock(inResult) - fixed < 1_300);
  const asInput = { type: 'tool_use', id: 't', name: 'f', input: image };
  t.equal(withBlock(asInput), 100_000 + 100, 'what a tool is called with is text, whatever it looks like');
  const plain = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'A'.repeat(9_000) },
  };
  t.ok(withBlock(plain) > 9_000);
  const inDocument = { type: 'document', source: { type: 'content', content: [image, image] } };
  t.ok(withBlock(inDocument) - fixed >= 2_000);
  t.ok(withBlock(inDocument) - fixed < 2_500);
  t.ok(hold({ tools: [{ name: 'f', input_schema: {} }] }) - fixed >= 1_024);
  const search = { type: 'web_search_20250305', name: 'web_search' };
  t.ok(hold({ tools: [search] }) - fixed >= 250_000);
  t.ok(hold({ tools: [{ ...search, max_uses: 1 }] }) - fixed < 60_000);
  t.ok(hold({ tools: [{ type: 'bash_20250124', name: 'bash' }] }) - fixed < 3_000, 'the client runs it');
  t.ok(hold({ thinking: { type: 'enabled', budget_tokens: 5_000 } }) - fixed >= 5_000);
  t.end();
});

test('a conversation nested very deep is walked without running out of stack', (t) => {
  const deep = `${'{"content":['.repeat(9_990)}${']}'.repeat(9_990)}`;
  const endpoint = ENDPOINTS.find(({ path }) => path === '/v1/responses');
  if (!endpoint) throw new Error('no endpoint');
  const body = Buffer.from(`{"model":"tokens","input":[${deep}]}`);
  const read = jsonBodyOf(body, testCatalog('http://127.0.0.1'), endpoint);
  t.ok(endpoint.meter.plan(read).cost(BOUNDS).hold > 0);
  t.equal(referencedIds(read.value).size, 0);
  t.end();
});
