import { type Test, test } from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { priceFromCredits, priceOf } from '../../src/domain/price.ts';
import { EVERY_PRICE, everyModel, ITERATION, OWN, START } from '../helper/fixtures/dimension-row.ts';
import { type Behavior, startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  startGatewayInProcess,
  type TestAccount,
} from '../helper/start/gateway-in-process.ts';

/** Prices of EVERY_PRICE up to 100,000 tokens of input, and of ten times as much above, but for the fees. */
function longPrice() {
  const units = (times: number) =>
    Object.fromEntries(
      (['input', 'cachedInput', 'cacheWrite', 'output'] as const).map((unit) => [
        unit,
        priceFromCredits(unit, EVERY_PRICE[unit] * times) ?? 0n,
      ]),
    );
  const fees = {
    webSearch: priceFromCredits('webSearch', EVERY_PRICE.webSearch) ?? 0n,
    request: priceFromCredits('request', EVERY_PRICE.request) ?? 0n,
  };
  return priceOf({ ...units(1), ...fees }, { tiers: [{ above: 100_000, units: units(10) }] });
}

const SSE = { 'content-type': 'text/event-stream' };
const HEAD = { id: 'msg_013Zva', type: 'message', role: 'assistant', model: 'claude-haiku-5-5' };
const sse = (events: readonly { readonly type: string; readonly [member: string]: unknown }[]): Behavior => ({
  headers: SSE,
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
});

/** A message as JSON and as a stream, in the shape of @anthropic-ai/sdk's BetaMessage and BetaRawMessageStreamEvent. */
function answers(stop: string, content: readonly object[], end: object): Readonly<Record<string, Behavior>> {
  const { stop_reason, stop_sequence } = { stop_reason: stop, stop_sequence: null };
  return {
    whole: { body: { ...HEAD, content, stop_reason, stop_sequence, usage: { ...START, ...end } } },
    streamed: sse([
      {
        type: 'message_start',
        message: { ...HEAD, content: [], stop_reason: null, usage: { output_tokens: 1, ...START } },
      },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: end },
      { type: 'message_stop' },
    ]),
  };
}

interface World extends InProcessGateway {
  readonly account: () => Promise<TestAccount>;
  /** The ledger row of a call that gets this answer. */
  rowOf(account: TestAccount, answer: Behavior): Promise<EntryView>;
}

async function start(t: Test): Promise<World> {
  let next: Behavior = {};
  const provider = await startScriptedProvider({ behave: () => next });
  t.teardown(() => provider.close());
  const catalog = everyModel(provider.url);
  const claude = catalog.get('claude');
  if (!claude) throw new Error('no model');
  catalog.set('haiku', { ...claude, slug: 'haiku', price: longPrice() });
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  return {
    ...world,
    account: () => world.account({ credits: 1_000 }),
    async rowOf({ key }, answer) {
      next = answer;
      const body = {
        model: 'haiku',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hi' }],
        stream: answer.headers === SSE,
      };
      const response = await world.api('POST', '/v1/messages', key, body);
      await response.text();
      await world.settled();
      const id = response.headers.get('x-request-id');
      const row = (await (await world.api('GET', `/api/account/ledger/${id}/`, key)).json()) as EntryView;
      const charge = response.headers.get('x-tollgate-charge');
      if (charge !== null) t.equal(Number(row.credits), -Number(charge), 'the head says the same');
      return row;
    },
  };
}

const credits = (micros: number) => (micros === 0 ? '0.000000' : `-${(micros / 1e6).toFixed(6)}`);
const TEXT = [{ type: 'text', text: 'Hello!', citations: null }];
const pass = (input: number, output: number) => ({ ...OWN, input_tokens: input, output_tokens: output });

test('the bill of a message', async (t) => {
  const world = await start(t);

  t.test('the length tier is that of each pass, not of all together', async (t) => {
    const account = await world.account();
    const end = {
      input_tokens: 120_000,
      output_tokens: 90,
      iterations: [1, 2, 3].map(() => pass(40_000, 30)),
    };
    for (const [how, answer] of Object.entries(answers('end_turn', TEXT, end))) {
      const row = await world.rowOf(account, answer);
      t.equal(row.credits, credits(120_000 * 2 + 90 * 8 + 7), how);
      t.match(row, { usage: { input_tokens: 120_000, output_tokens: 90 }, price: { input: 2, output: 8 } });
      t.notOk('passes' in row, 'passes in one tier are not told apart');
    }
  });

  t.test('passes in different length tiers are in the row, each with its prices', async (t) => {
    const account = await world.account();
    const compaction = { ...ITERATION, type: 'compaction', input_tokens: 150_000, output_tokens: 500 };
    const end = {
      input_tokens: 30_000,
      output_tokens: 40,
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      iterations: [compaction, { ...pass(30_000, 40), cache_read_input_tokens: 10 }],
      cache_read_input_tokens: 10,
    };
    for (const [how, answer] of Object.entries(answers('end_turn', TEXT, end))) {
      const row = await world.rowOf(account, answer);
      const long = 150_000 * 20 + 500 * 80;
      t.equal(row.credits, credits(long + 30_000 * 2 + 40 * 8 + 5 + 20_000 + 7), how);
      t.match(row, {
        usage: {
          input_tokens: 180_000,
          output_tokens: 540,
          cached_input_tokens: 10,
          web_searches: 2,
          requests: 1,
        },
        price: { input: 20, output: 80, webSearch: 10, request: 0.000007 },
        passes: [
          { usage: { input_tokens: 150_000, output_tokens: 500 }, price: { input: 20, output: 80 } },
          {
            usage: {
              input_tokens: 30_000,
              cached_input_tokens: 10,
              output_tokens: 40,
              web_searches: 2,
              requests: 1,
            },
            price: { input: 2, cachedInput: 0.5, output: 8, webSearch: 10, request: 0.000007 },
          },
        ],
      });
    }
  });

  t.test('passes that are not the sum of the usage are not believed: all input counts', async (t) => {
    const end = {
      input_tokens: 120_000,
      output_tokens: 60,
      iterations: [pass(40_000, 30), pass(40_000, 30)],
    };
    const row = await world.rowOf(await world.account(), answers('end_turn', TEXT, end).whole as Behavior);
    t.equal(row.credits, credits(120_000 * 20 + 60 * 80 + 7));
  });

  // "You are not billed for a request refused before any output is generated" (Anthropic's page on refusals).
  t.test('a refusal without any output is charged nothing but the fees of searches that ran', async (t) => {
    const account = await world.account();
    const end = { input_tokens: 90_000, output_tokens: 1 };
    for (const [how, answer] of Object.entries(answers('refusal', [], end))) {
      const row = await world.rowOf(account, answer);
      t.match(row, { credits: '0.000000', multiplier: 0, outcome: 'complete', estimated: false }, how);
      t.match(row.usage, { input_tokens: 90_000, output_tokens: 1 }, 'the usage stays');
      t.notOk('requests' in row.usage);
    }
    const searched = { ...end, server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 } };
    for (const [how, answer] of Object.entries(answers('refusal', [], searched))) {
      t.match(
        await world.rowOf(account, answer),
        { credits: '-0.030000', multiplier: 0 },
        `searched, ${how}`,
      );
    }
    for (const [how, answer] of Object.entries(answers('refusal', TEXT, end))) {
      const charge = credits(90_000 * 2 + 8 + 7);
      t.match(
        await world.rowOf(account, answer),
        { credits: charge, multiplier: 1 },
        `within output, ${how}`,
      );
    }
  });
});
