import { type Test, test } from 'tap';
import { type EntryView, usageView } from '../../src/api/ledger/entry-view.ts';
import { creditsString, micro } from '../../src/domain/credits.ts';
import { tokensIn } from '../../src/metering/text-tokens.ts';
import { eventTexts } from '../helper/fixtures/answer-shapes.ts';
import { everyModel, microsOf } from '../helper/fixtures/every-price.ts';
import { VENDOR_ANSWERS, type VendorAnswer } from '../helper/fixtures/vendor-answers.ts';
import { type Behavior, startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { lastCharge, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { silentWav } from '../helper/start/media-gateway.ts';

const SSE = { 'content-type': 'text/event-stream' };
const HI = { messages: [{ role: 'user', content: 'Hi' }] };

/** The first row of each endpoint. */
const FULLEST = VENDOR_ANSWERS.filter(
  ({ path }, index) => VENDOR_ANSWERS.findIndex((row) => row.path === path) === index,
);

function rowNamed(path: string, word: string): VendorAnswer {
  const row = VENDOR_ANSWERS.find((one) => one.path === path && one.what.includes(word));
  if (!row) throw new Error(`no row of ${path} with "${word}"`);
  return row;
}

const wholeOf = ({ json = {} }: VendorAnswer): Behavior => ({ body: { ...json } });
const streamOf = ({ events = [] }: VendorAnswer): Behavior => ({ headers: SSE, body: eventTexts(events) });
/** A stream that breaks off after this many events. */
const brokenOff = (events: readonly object[], breakAfter: number): Behavior => ({
  headers: SSE,
  body: eventTexts(events.slice(0, breakAfter)),
  breakAfter,
});

async function start(t: Test) {
  let next: Behavior = {};
  const provider = await startScriptedProvider({ behave: () => next });
  t.teardown(() => provider.close());
  const world = await startGatewayInProcess(t, { provider, config: { catalog: everyModel(provider.url) } });
  /** Makes a call of a new account that gets this answer. */
  const call = async (answer: Behavior, path: string, body: object) => {
    next = answer;
    const { key, accountId } = await world.account({ credits: 100_000 });
    const response = await fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      body: body instanceof FormData ? body : JSON.stringify(body),
    });
    const text = await response.text().catch(() => '');
    return { key, accountId, response, text };
  };
  return {
    /** The answer of a call, and its ledger row as its owner reads it. */
    async rowOf(answer: Behavior, path: string, body: object) {
      const { key, response, text } = await call(answer, path, body);
      await world.settled();
      const id = response.headers.get('x-request-id');
      const row = await world.api('GET', `/api/account/ledger/${id}/`, key);
      return {
        charge: response.headers.get('x-tollgate-charge'),
        text,
        row: (await row.json()) as EntryView,
      };
    },
    async chargeOf(answer: Behavior, path: string, body: object) {
      const { accountId } = await call(answer, path, body);
      return lastCharge(world, accountId);
    },
  };
}

function bodyOf({ model, body, isForm }: VendorAnswer, more: object = {}): object {
  const members = { model, ...body, ...more };
  if (!isForm) return members;
  const form = new FormData();
  form.append('file', new Blob([silentWav(2)]), 'audio.wav');
  for (const [name, value] of Object.entries(members)) form.append(name, String(value));
  return form;
}

test('answers of vendors', async (t) => {
  const { rowOf, chargeOf } = await start(t);

  for (const answer of FULLEST) {
    const { what, path, json, events, usage, times } = answer;
    t.test(`${path}: the row has every dimension, and its charge is that of the header`, async (t) => {
      const credits = creditsString(micro(microsOf({ ...usage, requests: 1 }, times)));
      const expected = {
        usage: { ...usageView(usage), requests: 1 },
        credits: `-${credits}`,
        estimated: false,
        outcome: 'complete',
      };
      if (json) {
        const { text, charge, row } = await rowOf(wholeOf(answer), path, bodyOf(answer));
        t.same(JSON.parse(text), json, what);
        t.equal(charge, credits, what);
        t.match(row, expected, what);
      }
      if (events) {
        const { row } = await rowOf(streamOf(answer), path, bodyOf(answer, { stream: true }));
        t.match(row, expected, `streamed: ${what}`);
      }
    });
  }

  t.test('passes in different length tiers are in the row, each with its prices', async (t) => {
    const answer = rowNamed('/v1/messages', 'in different length tiers');
    for (const [how, behavior, isStream] of [
      ['whole', wholeOf(answer), false],
      ['streamed', streamOf(answer), true],
    ] as const) {
      const { row } = await rowOf(behavior, answer.path, bodyOf(answer, { stream: isStream }));
      t.equal(row.credits, `-${creditsString(micro(answer.micros ?? 0))}`, how);
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
    const alike = rowNamed('/v1/messages', 'that of each pass');
    const { row } = await rowOf(wholeOf(alike), alike.path, bodyOf(alike));
    t.match(row, { usage: { input_tokens: 120_000 }, price: { input: 2, output: 8 } });
    t.notOk('passes' in row, 'passes in one tier are not listed');
  });

  t.test('a refusal without output keeps its usage, and is charged only the fees', async (t) => {
    const answer = rowNamed('/v1/messages', 'the fees of 3 searches');
    const { row, charge } = await rowOf(wholeOf(answer), answer.path, bodyOf(answer));
    t.match(row, { credits: '-0.030000', multiplier: 0, outcome: 'complete', estimated: false });
    t.match(row.usage, { input_tokens: 90_000, output_tokens: 1, web_searches: 3 });
    t.notOk('requests' in row.usage);
    t.equal(charge, '0.030000');
  });

  t.test('an answer that fails, and says what it used, is charged for it', async (t) => {
    const answer = rowNamed('/v1/responses', 'one that failed');
    const { row } = await rowOf(wholeOf(answer), answer.path, bodyOf(answer));
    t.match(row, { outcome: 'upstream_error', usage: usageView(answer.usage), estimated: false });
  });

  t.test('a message that breaks off has the writes, searches and tiers that came until then', async (t) => {
    const { path, events = [] } = rowNamed('/v1/messages', 'writes for an hour');
    const results = [
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result' }] },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
      },
    ].map((block, index) => ({ type: 'content_block_start', index, content_block: block }));
    const stream = events.toSpliced(1, 0, ...results);
    const entry = await chargeOf(brokenOff(stream, 5), path, {
      ...HI,
      model: 'claude',
      max_tokens: 100,
      stream: true,
    });
    t.match(entry, {
      estimated: true,
      outcome: 'upstream_broke',
      usage: { input: 2_095, cachedInput: 2_051, cacheWrite: 1_000, cacheWrite1h: 1_051, webSearches: 1 },
    });
    t.equal(-entry.credits, microsOf(entry.usage, 6.6), 'fast, in the region us');
  });

  t.test('a message that breaks off after compacting pays for the input of the compaction', async (t) => {
    const message = { id: 'msg_1', content: [], usage: { input_tokens: 900, output_tokens: 1 } };
    const delta = { type: 'compaction_delta', content: 'The user wants a cat.', encrypted_content: null };
    const events = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
      { type: 'content_block_delta', index: 0, delta },
    ];
    const content = 'word '.repeat(500);
    const { usage, estimated } = await chargeOf(brokenOff(events, 3), '/v1/messages', {
      model: 'claude',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
      stream: true,
    });
    t.equal(estimated, true);
    const { input = 0, output = 0 } = usage;
    t.equal(input, 900 + tokensIn(content) + 4, 'those reported, and those that were compacted');
    t.ok(output >= 5, `${output} tokens of the summary`);
  });

  t.test('a response that breaks off has the searches that were done', async (t) => {
    const { path, events = [] } = rowNamed('/v1/responses', 'opening a page is none');
    const body = { model: 'text', input: 'Hi', stream: true };
    t.match(await chargeOf(brokenOff(events, 5), path, body), {
      estimated: true,
      outcome: 'upstream_broke',
      usage: { webSearches: 1 },
    });
  });

  t.test('a chat that breaks off has the search that was asked for, at the tier of its chunks', async (t) => {
    const { path, events = [] } = rowNamed('/v1/chat/completions', 'in the flex tier');
    const body = { ...HI, model: 'text', stream: true, web_search_options: {} };
    const entry = await chargeOf(brokenOff(events, 2), path, body);
    t.match(entry, { estimated: true, usage: { webSearches: 1 } });
    t.equal(-entry.credits, microsOf(entry.usage, 0.5), 'half, as flex');
  });

  t.test('a chat that asked for a search and reports no usage has it all the same', async (t) => {
    const answer = { body: { id: 'c', choices: [{ index: 0, message: { content: 'Hello!' } }] } };
    const body = { ...HI, model: 'text', web_search_options: {} };
    t.match(await chargeOf(answer, '/v1/chat/completions', body), {
      estimated: true,
      usage: { webSearches: 1 },
    });
  });

  t.test('an answer of megabytes has its searches and its tier', async (t) => {
    const output = [
      { type: 'web_search_call', id: 'ws_1', action: { type: 'search', queries: ['x'] } },
      { type: 'web_search_call', id: 'ws_2', action: { type: 'open_page' } },
      {
        type: 'message',
        id: 'msg_1',
        content: [{ type: 'output_text', text: 'x'.repeat(1_200_000) }],
      },
    ];
    const usage = { input_tokens: 10, output_tokens: 20 };
    const answer = { body: { id: 'resp_1', output, usage, service_tier: 'priority' } };
    t.match(await chargeOf(answer, '/v1/responses', { model: 'text', input: 'Hi' }), {
      usage: { input: 10, output: 20, webSearches: 1 },
      credits: -microsOf({ input: 10, output: 20, webSearches: 1, requests: 1 }, 2),
      estimated: false,
    });
  });

  t.test('a request of megabytes has the search and the speed that it asked for', async (t) => {
    const messages = [{ role: 'user', content: 'x'.repeat(3_000_000) }];
    const chat = await chargeOf(
      {
        body: {
          choices: [{ message: { content: 'Hi' } }],
          usage: { prompt_tokens: 10, completion_tokens: 2 },
        },
      },
      '/v1/chat/completions',
      { model: 'text', messages, web_search_options: { search_context_size: 'low' } },
    );
    t.match(chat, { usage: { webSearches: 1 } });
    const message = await chargeOf(
      { body: { content: [], usage: { input_tokens: 10, output_tokens: 2, service_tier: 'standard' } } },
      '/v1/messages',
      { model: 'claude', max_tokens: 100, messages, speed: 'fast' },
    );
    t.equal(-message.credits, microsOf({ input: 10, output: 2, requests: 1 }, 6));
  });
});
