import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ledgerOf, makeOwner, type Owner } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

interface Prices {
  readonly input: number;
  readonly output: number;
}

/** US dollars for 1,000,000 tokens: sums of them cannot be mixed up. */
const FIRST: Prices = { input: 1000, output: 2000 };
const SECOND: Prices = { input: 30_000, output: 70_000 };

/** The data of a price list with one model, `listed`. */
function listOf({ input, output }: Prices) {
  const prices = { input_mtok: input, output_mtok: output, cache_read_mtok: input };
  return JSON.stringify([
    { id: 'mine', models: [{ id: 'listed', match: { equals: 'listed' }, context_window: 500, prices }] },
  ]);
}

/** A gateway with the model `listed`, whose prices are in a list, at 2 credits for a dollar. */
async function makeWorld(t: Test) {
  const { provider, letGo } = await startWaitingProvider(t);
  const model = '  listed: { upstream: test, category: text, maxOutputTokens: 1000 }\n';
  const place = makePlace(t, provider.url, {}, `${model}pricing: { list: list.json, creditsPerUsd: 2 }\n`);
  const file = place.env.TOLLGATE_CONFIG ?? '';
  writeFileSync(file, readFileSync(file, 'utf8').replace('format: openai', 'format: openai, provider: mine'));
  const list = join(dirname(file), 'list.json');
  writeFileSync(list, listOf(FIRST));
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000_000);
  const call = (content = 'hello') =>
    gateway.chat(owner.key, { model: 'listed', messages: [{ role: 'user', content }] });
  return { provider, letGo, gateway, owner, list, call };
}

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

function reloads(gateway: GatewayProcess): Line[] {
  // The last one may have come in part.
  const lines = gateway.output().split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => /configuration reloaded|current configuration stays/.test(msg));
}

async function reload(gateway: GatewayProcess): Promise<Line> {
  const before = reloads(gateway).length;
  process.kill(gateway.pid, 'SIGHUP');
  return await until('the reload to be logged', () => reloads(gateway)[before]);
}

interface Row {
  readonly type: string;
  readonly credits: string;
  readonly usage: Readonly<Record<string, number>>;
}

/** Micro-credits of a row at 2 credits for a dollar: a dollar for a million tokens is 2 micro-credits for one. */
function chargeAt({ input, output }: Prices, { usage }: Row): bigint {
  const { input_tokens = 0, cached_input_tokens = 0, output_tokens = 0 } = usage;
  const dollars =
    BigInt(input) * BigInt(input_tokens + cached_input_tokens) + BigInt(output) * BigInt(output_tokens);
  return 2n * dollars;
}

const microsOf = ({ credits }: Row) => -BigInt(credits.replace('.', ''));

async function rowsOf(gateway: GatewayProcess, owner: Owner, count: number): Promise<Row[]> {
  return await until('every row', async () => {
    const charges = (await ledgerOf(gateway, owner)).filter(({ type }) => type === 'charge');
    return charges.length === count && (charges as unknown as Row[]);
  });
}

test('a changed list is in force after a reload, which names each price', async (t) => {
  const { gateway, list, owner, call } = await makeWorld(t);
  await call();
  writeFileSync(list, listOf(SECOND));
  t.match(await reload(gateway), {
    level: 30,
    msg: /^configuration reloaded: models added: 0, removed: 0, changed: 1.*; models live: 3$/,
    changed: {
      listed: /price\.input: 2000\.000000 -> 60000\.000000/,
    },
  });
  await call();
  const [second, first] = await rowsOf(gateway, owner, 2);
  t.equal(first && microsOf(first), first && chargeAt(FIRST, first));
  t.equal(second && microsOf(second), second && chargeAt(SECOND, second));
});

test('a call is charged by the list that it was held at, also while the list changes', async (t) => {
  const { provider, letGo, gateway, list, owner, call } = await makeWorld(t);
  const waiting = call('wait');
  await provider.request(0);
  writeFileSync(list, listOf(SECOND));
  await reload(gateway);
  letGo();
  await waiting;
  const [row] = await rowsOf(gateway, owner, 1);
  t.equal(row && microsOf(row), row && chargeAt(FIRST, row));
});

test('no call is charged by a mixture of two lists', async (t) => {
  const { gateway, list, owner, call } = await makeWorld(t);
  let going = true;
  let calls = 0;
  const callers = Array.from({ length: 8 }, async () => {
    while (going) {
      const response = await call();
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
      calls += 1;
    }
  });
  for (const prices of [SECOND, FIRST, SECOND, FIRST, SECOND]) {
    writeFileSync(list, listOf(prices));
    await reload(gateway);
    const soFar = calls;
    await until('calls at these prices', () => calls > soFar + 20);
  }
  going = false;
  await Promise.all(callers);
  const rows = await rowsOf(gateway, owner, calls);
  const [first, second] = [FIRST, SECOND].map((prices) =>
    rows.filter((row) => microsOf(row) === chargeAt(prices, row)),
  );
  t.ok(first && first.length > 20, `${first?.length} at the first list`);
  t.ok(second && second.length > 20, `${second?.length} at the second list`);
  t.equal((first?.length ?? 0) + (second?.length ?? 0), rows.length, 'none at another');
});

test('a broken list changes nothing, and is logged with its path and reason', async (t) => {
  const { gateway, list, owner, call } = await makeWorld(t);
  writeFileSync(list, listOf(SECOND).replace('"input_mtok":30000', '"input_mtok":"30000"'));
  t.match(await reload(gateway), {
    level: 50,
    faults: [/^pricing\.list: .*list\.json can't be used: mine: listed: prices\.input_mtok/],
  });
  await call();
  const [row] = await rowsOf(gateway, owner, 1);
  t.equal(row && microsOf(row), row && chargeAt(FIRST, row));
});

test('GET /v1/models has the list price in credits', async (t) => {
  const { gateway, owner } = await makeWorld(t);
  const { body } = await apiOf(gateway, owner.key).get<{ data: { id: string }[] }>('/v1/models');
  t.match(
    body.data.find(({ id }) => id === 'listed'),
    { price: { input: 2000, output: 4000, cachedInput: 2000 }, service_tiers: {} },
  );
});
