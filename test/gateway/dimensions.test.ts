import { type Test, test } from 'tap';
import { type EntryView, usageView } from '../../src/api/ledger/entry-view.ts';
import { creditsString, micro } from '../../src/domain/credits.ts';
import { DIMENSIONS } from '../helper/fixtures/dimension-answers.ts';
import { eventTexts, everyModel, microsOf } from '../helper/fixtures/dimension-row.ts';
import { type Behavior, startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  type TestAccount,
} from '../helper/start/gateway-in-process.ts';

const SSE = { 'content-type': 'text/event-stream' };

interface World extends InProcessGateway {
  /** The behavior of the upstream in the next call. */
  answer(behavior: Behavior): void;
  post(account: TestAccount, path: string, body: Record<string, unknown> | FormData): Promise<Response>;
}

async function start(t: Test): Promise<World> {
  let next: Behavior = {};
  const provider = await startScriptedProvider({ behave: () => next });
  t.teardown(() => provider.close());
  const world = await startGatewayInProcess(t, {
    provider,
    config: { catalog: everyModel(provider.url) },
  });
  return {
    ...world,
    answer(behavior) {
      next = behavior;
    },
    post: ({ key }, path, body) =>
      fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
  };
}

/** The ledger row of a call, as its owner reads it. */
async function rowOf(world: World, { key }: TestAccount, response: Response): Promise<EntryView> {
  await world.settled();
  const id = response.headers.get('x-request-id');
  const answer = await world.api('GET', `/api/account/ledger/${id}/`, key);
  return (await answer.json()) as EntryView;
}

test('a row has every dimension that the answer reports, and its charge is that of the header', async (t) => {
  const world = await start(t);
  const account = await world.account({ credits: 1_000 });
  for (const row of DIMENSIONS) {
    const { what, path, model, body, form, json, events, usage, isEstimated } = row;
    const send = (more: Record<string, unknown>) => {
      if (!form) return world.post(account, path, { model, ...body, ...more });
      const filled = form();
      for (const [name, value] of Object.entries({ model, ...more })) filled.append(name, String(value));
      return world.post(account, path, filled);
    };
    const credits = creditsString(micro(microsOf(row)));
    const expected = {
      usage: { ...usageView(usage), requests: 1 },
      credits: `-${credits}`,
      estimated: isEstimated === true,
      outcome: 'complete',
    };
    if (json) {
      world.answer({ body: json });
      const response = await send({});
      t.same(await response.json(), json, `${path} ${what}`);
      t.equal(response.headers.get('x-tollgate-charge'), credits, what);
      t.match(await rowOf(world, account, response), expected, what);
    }
    if (events) {
      world.answer({ body: eventTexts(row), headers: SSE });
      const response = await send({ stream: true });
      await response.text();
      t.match(await rowOf(world, account, response), expected, `streamed: ${what}`);
    }
  }
});

/** A stream that breaks off after this many events. */
const brokenOff = (texts: readonly string[], events: number): Behavior => ({
  headers: SSE,
  body: texts.slice(0, events),
  breakAfter: events,
});

function rowNamed(path: string, word: string): string[] {
  const row = DIMENSIONS.find((one) => one.path === path && one.what.includes(word));
  if (!row) throw new Error(`no row of ${path} with "${word}"`);
  return eventTexts(row);
}

async function readBroken(response: Response): Promise<void> {
  await response.text().catch(() => '');
}

test('a message that breaks off has the writes, searches and tiers that came until then', async (t) => {
  const world = await start(t);
  const account = await world.account();
  const [head = '', ...others] = rowNamed('/v1/messages', 'writes for an hour');
  const results = [
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result' }] },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_2',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    },
  ].map(
    (block, index) =>
      `event: content_block_start\ndata: ${JSON.stringify({ type: 'content_block_start', index, content_block: block })}\n\n`,
  );
  world.answer(brokenOff([head, ...results, ...others], 5));
  await readBroken(
    await world.post(account, '/v1/messages', {
      model: 'claude',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    }),
  );
  const entry = await lastCharge(world, account.accountId);
  t.match(entry, {
    estimated: true,
    outcome: 'upstream_broke',
    usage: { input: 2_095, cachedInput: 2_051, cacheWrite: 1_000, cacheWrite1h: 1_051, webSearches: 1 },
  });
  const { output = 0 } = entry.usage;
  const hundredths = 100 * (2_095 * 2 + 1_000 * 2.5 + 1_051 * 4 + output * 8) + 50 * 2_051;
  t.equal(-entry.credits, Math.ceil((hundredths * 66) / 1_000) + 10_007, 'fast, in the region us');
});

test('a message that breaks off after compacting pays for the input of the compaction', async (t) => {
  const world = await start(t);
  const account = await world.account();
  const message = {
    id: 'msg_1',
    content: [],
    usage: { input_tokens: 900, output_tokens: 1, service_tier: 'standard' },
  };
  const block = { type: 'compaction', content: null };
  const delta = { type: 'compaction_delta', content: 'The user wants a cat.', encrypted_content: null };
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
  ];
  world.answer(
    brokenOff(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      3,
    ),
  );
  const messages = [{ role: 'user', content: 'word '.repeat(500) }];
  await readBroken(
    await world.post(account, '/v1/messages', { model: 'claude', max_tokens: 100, messages, stream: true }),
  );
  const { usage, estimated } = await lastCharge(world, account.accountId);
  t.equal(estimated, true);
  const { input = 0, output = 0 } = usage;
  t.ok(
    input >= 1_400 && input < 1_450,
    `${input} tokens: 900 that are reported, and those that were compacted`,
  );
  t.ok(output >= 5, `${output} tokens of the summary`);
});

test('a response that breaks off has the searches that were done', async (t) => {
  const world = await start(t);
  const account = await world.account();
  world.answer(brokenOff(rowNamed('/v1/responses', 'searches'), 5));
  await readBroken(await world.post(account, '/v1/responses', { model: 'text', input: 'Hi', stream: true }));
  t.match(await lastCharge(world, account.accountId), {
    estimated: true,
    outcome: 'upstream_broke',
    usage: { webSearches: 1 },
  });
});

test('a chat that breaks off has the search that was asked for, at the tier of its chunks', async (t) => {
  const world = await start(t);
  const account = await world.account();
  world.answer(brokenOff(rowNamed('/v1/chat/completions', 'flex'), 2));
  const messages = [{ role: 'user', content: 'Hi' }];
  await readBroken(
    await world.post(account, '/v1/chat/completions', {
      model: 'text',
      messages,
      stream: true,
      web_search_options: {},
    }),
  );
  const entry = await lastCharge(world, account.accountId);
  t.match(entry, { estimated: true, usage: { webSearches: 1 } });
  // The model has a price for cache writes, which only the report would tell.
  const { cacheWrite = 0, output = 0 } = entry.usage;
  t.equal(-entry.credits, Math.ceil((cacheWrite * 2.5 + output * 8) / 2) + 10_007, 'half, as flex');
});

test('a chat that asked for a search and reports no usage has it all the same', async (t) => {
  const world = await start(t);
  const account = await world.account();
  world.answer({ body: { id: 'c', choices: [{ index: 0, message: { content: 'Hello!' } }] } });
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { model: 'text', messages, web_search_options: {} };
  await (await world.post(account, '/v1/chat/completions', body)).json();
  t.match(await lastCharge(world, account.accountId), { estimated: true, usage: { webSearches: 1 } });
});

test('an answer of megabytes has its searches and its tier', async (t) => {
  const world = await start(t);
  const account = await world.account();
  const text = {
    type: 'message',
    id: 'msg_1',
    content: [{ type: 'output_text', text: 'x'.repeat(1_200_000) }],
  };
  const search = { type: 'web_search_call', id: 'ws_1', action: { type: 'search', queries: ['x'] } };
  const page = { type: 'web_search_call', id: 'ws_2', action: { type: 'open_page' } };
  world.answer({
    body: {
      id: 'resp_1',
      output: [search, page, text],
      usage: { input_tokens: 10, output_tokens: 20 },
      service_tier: 'priority',
    },
  });
  const response = await world.post(account, '/v1/responses', { model: 'text', input: 'Hi' });
  await response.text();
  t.match(await rowOf(world, account, response), {
    usage: { input_tokens: 10, output_tokens: 20, web_searches: 1 },
    credits: `-${creditsString(micro((10 * 2 + 20 * 8) * 2 + 10_007))}`,
    estimated: false,
  });
});

test('a request of megabytes has the search and the speed that it asked for', async (t) => {
  const world = await start(t);
  const account = await world.account({ credits: 100_000 });
  const messages = [{ role: 'user', content: 'x'.repeat(3_000_000) }];
  world.answer({
    body: { choices: [{ message: { content: 'Hi' } }], usage: { prompt_tokens: 10, completion_tokens: 2 } },
  });
  const chat = await world.post(account, '/v1/chat/completions', {
    model: 'text',
    messages,
    web_search_options: { search_context_size: 'low' },
  });
  await chat.json();
  t.match(await rowOf(world, account, chat), { usage: { web_searches: 1 } });
  world.answer({
    body: { content: [], usage: { input_tokens: 10, output_tokens: 2, service_tier: 'standard' } },
  });
  const message = await world.post(account, '/v1/messages', {
    model: 'claude',
    max_tokens: 100,
    messages,
    speed: 'fast',
  });
  await message.json();
  t.match(await rowOf(world, account, message), { credits: `-${creditsString(micro((20 + 16) * 6 + 7))}` });
});
