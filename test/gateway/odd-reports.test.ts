import { test } from 'tap';
import { MAX_CREDITS } from '../../src/domain/credits.ts';
import { tokensIn } from '../../src/metering/text-tokens.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { checkRow, startScriptedGateway } from '../helper/start/broken-stream.ts';
import { lastCharge, startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';
import { silentWav } from '../helper/start/media-gateway.ts';

const HI = { messages: [{ role: 'user', content: 'Hi' }] };
const CHAT = { ...HI, model: 'tokens' };

/** Reports of which one side is invalid, as `[input, output]` in JSON source. */
const ABSURD: readonly (readonly [string, string])[] = [
  ['-1', '5'],
  ['5', '-1'],
  ['1.5', '5'],
  ['"five"', '5'],
  ['1e300', '5'],
  ['1e999', '5'],
  ['9007199254740993', '5'],
  ['1000000000', '5'],
  ['null', '5'],
  ['5', 'null'],
  ['{}', '5'],
  ['true', '5'],
];
const SAID = 'Hello there, how are you?';
const FORMATS = [
  {
    path: '/v1/chat/completions',
    body: CHAT,
    answer: `{"choices":[{"message":{"content":"${SAID}"}}],"usage":USAGE}`,
    names: ['prompt_tokens', 'completion_tokens'],
  },
  {
    path: '/v1/responses',
    body: { model: 'tokens', input: 'Hi' },
    answer: `{"output":[{"content":[{"text":"${SAID}"}]}],"usage":USAGE}`,
    names: ['input_tokens', 'output_tokens'],
  },
  {
    path: '/v1/messages',
    body: { ...HI, model: 'claude', max_tokens: 100 },
    answer: `{"content":[{"type":"text","text":"${SAID}"}],"usage":USAGE}`,
    names: ['input_tokens', 'output_tokens'],
  },
] as const;

test('a side of a report that is negative, absurd or absent is estimated, and the other is kept', async (t) => {
  const world = await startScriptedGateway(t);
  for (const { path, body, answer, names } of FORMATS) {
    const [input, output] = names;
    const reports = [
      ...ABSURD.map(
        ([read, written]) => [`{"${input}":${read},"${output}":${written}}`, written === '5'] as const,
      ),
      [`{"${input}":5}`, false],
      [`{"${output}":5}`, true],
      ['{}', undefined],
      ['[]', undefined],
      ['null', undefined],
      ['"none"', undefined],
    ] as const;
    for (const [report, isOutput] of reports) {
      await t.test(`${path}: ${report}`, async (st) => {
        const ended = await world.end({
          path,
          body: JSON.stringify(body),
          behavior: {
            headers: { 'content-type': 'application/json' },
            body: answer.replace('USAGE', report),
          },
        });
        const answered = { status: 200, outcome: 'complete' };
        const usage = { output: isOutput ? 5 : tokensIn(SAID) };
        const tokens = { input: isOutput === false ? 5 : 1 };
        await checkRow(st, world, ended, answered, { usage, tokens, estimated: true });
      });
    }
  }
});

test('seconds that are negative, absurd or no number are none: the audio is measured', async (t) => {
  const world = await startScriptedGateway(t);
  for (const seconds of ['-1', '1e300', '1e999', 'null', '"long"', '[]', '{}']) {
    const body = new FormData();
    body.append('model', 'ears');
    body.append('file', new Blob([silentWav(2)]), 'audio.wav');
    const ended = await world.end({
      path: '/v1/audio/transcriptions',
      body,
      behavior: {
        headers: { 'content-type': 'application/json' },
        body: `{"text":"Hi","usage":{"type":"duration","seconds":${seconds}},"duration":${seconds}}`,
      },
    });
    const row = { status: 200, outcome: 'complete' };
    await checkRow(t, world, ended, row, { usage: { audioSeconds: 2 }, estimated: false });
  }
});

test('a report beyond the bound of the hold is charged as the provider bills it', async (t) => {
  const world = await startScriptedGateway(t);
  const ended = await world.end({
    path: '/v1/chat/completions',
    body: JSON.stringify({ ...CHAT, max_tokens: 1 }),
    behavior: { usage: { prompt_tokens: 900_000_000, completion_tokens: 900_000_000 } },
  });
  // 2,700,000 credits, of a balance of 1,000.
  await checkRow(
    t,
    world,
    ended,
    { status: 200, outcome: 'complete' },
    {
      usage: { input: 900_000_000, output: 900_000_000 },
      estimated: false,
    },
  );
  const again = await world.chat(ended.account.key, CHAT);
  t.equal(again.status, 402, 'and nothing more is admitted');
});

test('a report that would cost more than can be written is none, and the hold is released', async (t) => {
  const provider = await startScriptedProvider({
    behave: () => ({ usage: { prompt_tokens: 999_999_999, completion_tokens: 1 } }),
  });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const tokens = catalog.get('tokens');
  if (!tokens) throw new Error('no model');
  // 8,500 credits a token, the highest price that the config allows.
  const price = creditPrice({ input: MAX_CREDITS });
  catalog.set('dear', { ...tokens, slug: 'dear', upstreamModel: 'dear', price });
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const { key, accountId } = await world.account({ credits: 100_000_000 });
  t.equal((await world.chat(key, { model: 'dear' })).status, 200);
  t.match(await lastCharge(world, accountId), { estimated: true, outcome: 'complete' });
  t.equal((await world.ledger.ledger.account(accountId)).held, 0);
});
