import { test } from 'tap';
import { UNIT_NAMES, UNITS, type Unit } from '../../../src/domain/units.ts';
import { embeddings } from '../../../src/metering/embeddings.ts';
import type { Meter } from '../../../src/metering/meter.ts';
import { speech } from '../../../src/metering/speech.ts';
import { transcription } from '../../../src/metering/transcription.ts';
import { askedOf, modelAt, type PricedPath } from '../../helper/fixtures/asked.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

const TOKEN_UNITS = UNIT_NAMES.filter((unit) => UNITS[unit].tokens !== null);

type TokenUnit = { [U in Unit]: (typeof UNITS)[U]['tokens'] extends null ? never : U }[Unit];

const MEDIA = { imageTokens: 20_000, contextTokens: 1_000_000, toolRounds: 3, toolTokens: 50_000 };
const message = (...content: object[]) => ({ messages: [{ role: 'user', content }], max_tokens: 10 });
const PLAIN = message({ type: 'text', text: 'hello there' });
const SOUND = message({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } });
const PICTURE = message({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } });

/** A request whose answer is charged by the unit. */
const ASKING: Readonly<Record<TokenUnit, readonly [PricedPath, Record<string, unknown>]>> = {
  input: ['/v1/chat/completions', PLAIN],
  output: ['/v1/chat/completions', PLAIN],
  cachedInput: ['/v1/chat/completions', PLAIN],
  cacheWrite: ['/v1/chat/completions', PLAIN],
  cacheWrite1h: [
    '/v1/messages',
    message({ type: 'text', text: 'hello there', cache_control: { type: 'ephemeral', ttl: '1h' } }),
  ],
  inputAudio: ['/v1/chat/completions', SOUND],
  cachedInputAudio: ['/v1/chat/completions', SOUND],
  outputAudio: [
    '/v1/chat/completions',
    { ...PLAIN, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
  ],
  inputImage: ['/v1/chat/completions', PICTURE],
  cachedInputImage: ['/v1/chat/completions', PICTURE],
  outputImage: ['/v1/images/generations', { prompt: 'A cat', n: 1 }],
};

const categoryAt = (path: PricedPath) => (path.startsWith('/v1/images') ? 'image' : 'text');

test('a hold covers ten tokens of any unit that its call can be charged by, however dear that unit is', async (t) => {
  const DEAR = 1_000_000;
  for (const unit of TOKEN_UNITS) {
    const [path, body] = ASKING[unit as TokenUnit];
    const price = creditPrice({ input: 1, output: 1, cacheWrite1h: 1, outputAudio: 1, [unit]: DEAR });
    const { hold } = askedOf(
      path,
      modelAt(path, { price, category: categoryAt(path), maxOutputTokens: 1_000 }),
      body,
    ).cost(MEDIA);
    t.ok(hold >= 10 * DEAR, `${unit}: ${hold}`);
  }
});

test('the estimate of a call without tools counts a third of its bytes, its sound, and one answer', async (t) => {
  const price = creditPrice({ input: 1, output: 1 });
  const body = {
    kind: 'json',
    model: modelAt('/v1/completions', { price, maxOutputTokens: 500 }),
    value: { input: 'x'.repeat(30) },
    scalars: { input: 'x'.repeat(30) },
    isStream: false,
    textBytes: 100,
    files: 0,
    audio: { seconds: 2, how: 'measured', bytes: 32_044 },
    elidedStrings: undefined,
    hints: undefined,
  } as const;
  const tokensOf = ({ plan }: Pick<Meter, 'plan'>) => plan(body).cost(MEDIA).tokens;
  t.equal(tokensOf(embeddings), 34);
  t.equal(tokensOf(transcription), 34 + 2 * 50 + 500);
  t.equal(tokensOf(speech), 34 + 42);
});
