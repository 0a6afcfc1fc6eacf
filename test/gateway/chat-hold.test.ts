import { test } from 'tap';
import type { Catalog } from '../../src/domain/catalog.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { jsonBodyOf } from '../helper/fixtures/asked.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { testCatalog } from '../helper/start/gateway-in-process.ts';

/** One credit a token, in or out, so that a hold in credits is a number of tokens. */
function catalogOf(): Catalog {
  const price = creditPrice({ input: 1_000_000, output: 1_000_000 });
  const model = testCatalog('http://127.0.0.1').get('tokens');
  if (!model) throw new Error('no model');
  return new Map([['m', { ...model, slug: 'm', price }]]);
}

function holdOf(body: Record<string, unknown>, imageTokens = 1_000): number {
  const [endpoint] = ENDPOINTS;
  if (!endpoint) throw new Error('no endpoint');
  const read = jsonBodyOf(Buffer.from(JSON.stringify(body)), catalogOf(), endpoint);
  return (
    endpoint.meter
      .plan(read)
      .cost({ imageTokens, contextTokens: 1_000_000, toolRounds: 3, toolTokens: 50_000 }).hold / 1e6
  );
}

test('never less than the tokens of any text, and its output bound', (t) => {
  // With their tokens in o200k_base.
  const texts: readonly (readonly [content: string, tokens: number])[] = [
    ['Hello, world.', 4],
    ['Ünïcödé, 日本語のテキスト, 😀😀😀, العربية', 18],
    ['\n\t"quotes" \\ and \u0001 control', 10],
    ['a'.repeat(5_000), 625],
    ['1234567890 '.repeat(500), 2_500],
    [Array.from({ length: 300 }, (_, index) => String.fromCodePoint(0x4e00 + index * 37)).join(''), 565],
  ];
  for (const [content, tokens] of texts) {
    t.ok(
      holdOf({ model: 'm', max_tokens: 50, messages: [{ role: 'user', content }] }) >= tokens + 4 + 3 + 50,
      content.slice(0, 20),
    );
  }
  t.end();
});

test('the output bound: the larger maximum, times n, else the model’s', (t) => {
  const base = { model: 'm', messages: [] };
  const empty = holdOf({ ...base, max_tokens: 1 }) - 1;
  t.ok(holdOf({ ...base, max_tokens: 500 }) - empty >= 500);
  t.ok(holdOf({ ...base, max_tokens: 100, max_completion_tokens: 900 }) - empty >= 900);
  t.ok(holdOf({ ...base, max_tokens: 100, n: 7 }) - empty >= 700);
  t.ok(holdOf(base) >= 1_000, 'maxOutputTokens of the model');
  t.end();
});

test('media counts by its bound, not by the length of its base64; a link is text', (t) => {
  const withPart = (part: unknown) =>
    holdOf({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [part] }] });
  const small = withPart({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } });
  const large = withPart({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${'A'.repeat(500_000)}` },
  });
  t.equal(large, small);
  t.ok(small > 1_000 && small < 1_400, String(small));
  const audio = withPart({ type: 'input_audio', input_audio: { data: 'A'.repeat(100_000), format: 'wav' } });
  t.equal(audio, 1_000_001, 'a sound that is not measured can fill the window');
  t.ok(
    withPart({ type: 'image_url', image_url: { url: `https://example.com/${'a'.repeat(5_000)}` } }) > 6_000,
  );
  t.ok(withPart({ type: 'text', text: 'A'.repeat(5_000) }) > 5_000, 'text that looks like base64 is text');
  t.end();
});
