import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import type { LedgerEntry } from '../../src/domain/ledger-entry.ts';
import { attemptDifferences, differences } from '../helper/check/rows-of-provider.ts';
import type { Try } from '../helper/stand-ins/agents/agent-provider.ts';
import { lastCharge, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { CASES, PLACES, runCase, STEPS, WITH_TARGETS } from './cases.ts';
import { type Case, CLIENTS } from './clients.ts';
import { brokenPromises, type Row, withRows } from './page.ts';
import { startWorld } from './world.ts';

/** The clients that are dependencies of this repository. */
const HERE: readonly (readonly [id: string, cases: readonly Case[]])[] = [
  ['openai-node', ['credits', 'left', 'targets', 'encrypted']],
  ['anthropic-node', ['tools', 'models', 'targets']],
];

test('SDKs of this repository go through cases of npm run clients, to the provider’s own count', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clients-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, join(folder, 'node_modules'));
  const single = await startWorld(t);
  for (const [id, cases] of HERE) {
    const client = CLIENTS.find((one) => one.id === id);
    if (!client) throw new Error(`no client ${id}`);
    for (const name of cases) {
      // Targets that have died do not come back.
      const world = WITH_TARGETS.has(name) ? await startWorld(t, PLACES) : single;
      const { mark, note, output, differences } = await runCase(world, client, name, {
        folder,
        home: folder,
      });
      t.same(differences, [], `${id}: ${name}`);
      t.equal(mark, '●', `${id}: ${name}: ${note} ${output}`);
      if (name === 'targets') {
        const dead = new Set(
          world.provider.tries.filter(({ isAnswer }) => !isAnswer).map(({ place }) => place),
        );
        t.equal(dead.size, PLACES - 2, 'each has died that does not refuse connections');
        t.equal(new Set(world.provider.tries.map(({ place }) => place)).size, PLACES);
      }
      if (name !== 'tools') continue;
      const counted = world.provider.calls.filter(({ count }) => count);
      t.equal(counted.length, (STEPS + 1) * (client.loops ?? 1), 'a call for each step, and the answer');
    }
  }
});

test('a row that is not the provider’s count is a difference', async (t) => {
  const world = await startOwnGateway(t);
  const { accountId, key } = await world.account();
  await (await world.chat(key, { model: 'tokens' })).arrayBuffer();
  const row = await lastCharge(world, accountId);
  const { input = 0, output = 0, cachedInput = 0 } = row.usage;
  const count = { input, output, cachedInput, cacheWrite: 0, cacheWrite1h: 0 };
  const call = {
    path: '/v1/chat/completions',
    isStream: false,
    isCompaction: false,
    ended: Promise.resolve(),
    count,
  };
  t.same(differences([row], [call]), []);
  t.match(differences([], [call]), [/no row with \d+ tokens/]);
  t.match(
    differences(
      [row, row].map((one) => ({ ...one })),
      [call],
    ),
    [/a row too many/],
  );
  t.match(differences([row], [{ ...call, count: { ...count, input: input + 1 } }]), [
    /input \d+, by the provider/,
  ]);
  t.match(differences([{ ...row, estimated: true }], [call]), [/an estimate/]);
  t.match(differences([{ ...row, credits: (row.credits - 1) as typeof row.credits }], [call]), [
    /not count × price/,
  ]);
  t.match(differences([{ ...row, usage: {} }], [{ ...call, count: null }]), [
    /counted nothing/,
    /count × price/,
  ]);
});

test('tries that no place of the provider made, and a change of place without a death, are differences', async (t) => {
  const world = await startOwnGateway(t);
  const { accountId, key } = await world.account();
  await (await world.chat(key)).arrayBuffer();
  const row = await lastCharge(world, accountId);
  const at = (place: number): LedgerEntry => ({ ...row, upstream: `test-${place}` });
  const answer = (place: number): Try => ({ place, status: 200, isAnswer: true, model: 'flat' });
  const failure: Try = { place: 0, status: 503, isAnswer: false, model: 'flat' };
  const handedOver = (status: number | null): LedgerEntry => ({
    ...at(1),
    attempts: [
      { target: 'test-0', status, ms: 1 },
      { target: 'test-1', status: 200, ms: 1 },
    ],
  });
  t.same(attemptDifferences([at(0), handedOver(503), at(1)], [answer(0), failure, answer(1), answer(1)]), []);
  t.same(
    attemptDifferences([at(0), handedOver(null)], [answer(0), answer(1)]),
    [],
    'no connection is seen by nobody',
  );
  t.match(attemptDifferences([at(0), at(1)], [answer(0), answer(1)]), [/left place 0, which lives/]);
  t.match(attemptDifferences([handedOver(500)], [failure, answer(1)]), [
    /attempts 0 500,1 200, by the provider 0 503,1 200/,
  ]);
  t.match(attemptDifferences([handedOver(503), at(0)], [failure, answer(1), answer(0)]), [
    /left place 1, which lives/,
    /answered by place 0, which has failed/,
  ]);
  t.match(attemptDifferences([at(0)], [answer(0), failure]), [/1 tries of no row/]);
});

const PAGE = '# Clients\n\n<!-- run of the clients -->\n\n<!-- end -->\n';
const row = (name: string, mark: '●' | '◐', note?: string): Row => ({
  name,
  version: '1.2.3',
  date: '2026-11-25',
  results: Object.fromEntries(
    CASES.map((one) => [
      one,
      one === '404' ? { mark, note, differences: [] } : { mark: '●', differences: [] },
    ]),
  ),
});

test('the page promises the marks of its table, and other marks are differences', async (t) => {
  t.match(brokenPromises(PAGE, [row('One', '●')]), [/does not have it/]);
  const page = withRows(withRows(PAGE, [row('One', '◐', 'sent twice')]), [row('Two', '●')]);
  t.match(page, /\| One \| 1\.2\.3 \|.*◐<sup>1<\/sup>.*\n\| Two \| 1\.2\.3 \|/);
  t.match(page, /\n1\. Sent twice\.\n/);
  t.same(brokenPromises(page, [row('One', '◐', 'sent thrice'), row('Two', '●')]), []);
  t.match(brokenPromises(page, [row('One', '●')]), [/One: 404 is ●, and the page promises ◐/]);
  const wrong = {
    ...row('Two', '●'),
    results: { call: { mark: '●', differences: ['a row too many'] } },
  } as Row;
  t.match(brokenPromises(page, [wrong]), [/Two: ledger: a row too many/]);
  t.match(brokenPromises(page, [{ ...row('Two', '●'), results: {}, notRun: 'no binary' }]), [
    /Two: no binary/,
  ]);
});

test('every client that is run has its versions, and a row in the page', async (t) => {
  const versions = JSON.parse(readFileSync(new URL('versions.json', import.meta.url), 'utf8'));
  t.same(new Set(Object.keys(versions)), new Set(CLIENTS.map(({ id, packages = id }) => packages)));
  const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('<!-- run of the clients -->');
  for (const { name } of CLIENTS) t.ok(table.includes(`\n| ${name} |`), name);
});
