import { chatCall } from './call-request.ts';
import { Caller } from './caller.ts';
import { ADMIN_TOKEN, api } from './gateway.ts';
import type { Options } from './options.ts';
import { pacedLoad } from './paced-load.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { percentile } from './rounds.ts';
import { onStage, type Stage } from './stage.ts';

/** A pace without queues, so the wait of a call is the cost of the changes. */
const CALLS_PER_SECOND = 200;
const CHANGES_PER_SECOND = 20;
const CONNECTIONS = 64;
const BAR_MS = 50;
/** More than any run can spend, and different each time, so that each request changes something. */
const LIMIT = 900_000;

const COLUMNS: readonly Column[] = [
  { key: 'calls', title: 'calls', digits: 0 },
  { key: 'changes', title: 'changes', digits: 0 },
  { key: 'p50Ms', title: 'p50 ms', digits: 2 },
  { key: 'p99Ms', title: 'p99 ms', digits: 2 },
  { key: 'worstMs', title: 'worst ms', digits: 1 },
  { key: 'addedP99Ms', title: 'added p99', digits: 2 },
];

type Change = (index: number) => Promise<unknown>;

/** Calls of one key during constant changes of its account and record: none may fail or wait long. */
export async function changes({ seconds, rounds }: Options): Promise<ProfileReport> {
  const about = `${CALLS_PER_SECOND} calls a second of one key, while its account or record is changed ${CHANGES_PER_SECOND} times a second`;
  const { result, checks } = await onStage({ accounts: 1, keysEach: 1, restricted: true }, async (stage) => {
    const kinds = await changesOf(stage);
    const caller = new Caller(stage.gateway.urls[0] ?? '', CONNECTIONS);
    const request = chatCall(stage.accounts[0]?.keys[0] ?? '', { promptBytes: 750 });
    const send = () => caller.call(request, 200);
    await pacedLoad({ perSecond: CALLS_PER_SECOND, seconds: 5, send });
    const measured = new Map<string, { answerMs: number[]; changes: number }>();
    for (let round = 0; round < rounds; round++) {
      for (const [name, change] of kinds) {
        const all = measured.get(name) ?? { answerMs: [], changes: 0 };
        measured.set(name, all);
        const load = { perSecond: CALLS_PER_SECOND, seconds: seconds * 4, send };
        const [answerMs, made] = await Promise.all([
          pacedLoad(load),
          change ? makeChanges(change, seconds * 4, all.changes) : 0,
        ]);
        all.answerMs.push(...answerMs);
        all.changes += made;
      }
    }
    await caller.close();
    return measured;
  });
  const aloneMs = p99Of(result.get('alone')?.answerMs ?? []);
  const rows: Row[] = [...result].map(([target, { answerMs, changes: made }]) => ({
    target,
    values: {
      calls: answerMs.length,
      changes: made,
      p50Ms: percentile(ascending(answerMs), 0.5),
      p99Ms: p99Of(answerMs),
      worstMs: Math.max(...answerMs),
      addedP99Ms: target === 'alone' ? null : p99Of(answerMs) - aloneMs,
    },
  }));
  const slow = rows.filter(({ values }) => (values.addedP99Ms ?? 0) > BAR_MS);
  const bar = {
    name: `a change adds at most ${BAR_MS} ms at p99`,
    holds: slow.length === 0,
    detail: rows.map(({ target, values }) => `${target} ${values.p99Ms?.toFixed(1)} ms`).join(', '),
  };
  return { profile: 'changes', about, columns: COLUMNS, rows, checks: [...checks, bar], notes: [] };
}

/** Changes by name; null: none. */
async function changesOf(stage: Stage): Promise<ReadonlyMap<string, Change | null>> {
  const [account, server] = [stage.accounts[0], stage.gateways[0]];
  if (!account || !server) throw new RangeError('the stage has an account and a gateway');
  const token = account.keys[0] ?? '';
  const { id } = await api<{ id: number }>(server, 'GET', '/api/key/', token);
  const credits = `/api/admin/accounts/${account.id}/credits/`;
  const topUp = { amount: 0.000001, note: 'bench' };
  return new Map<string, Change | null>([
    ['alone', null],
    ['top-ups', () => api(server, 'POST', credits, ADMIN_TOKEN, topUp)],
    [
      'PATCHes of the key',
      (index) => api(server, 'PATCH', `/api/keys/${id}/`, token, { spending_limit: LIMIT + (index % 1_000) }),
    ],
    [
      'PATCHes of the account',
      (index) =>
        api(server, 'PATCH', `/api/admin/accounts/${account.id}/`, ADMIN_TOKEN, { overdraft: index % 1_000 }),
    ],
  ]);
}

/** Makes changes at their pace for this long. Resolves with their number. Rejects with the first failure. */
async function makeChanges(change: Change, seconds: number, from: number): Promise<number> {
  const tookMs = await pacedLoad({
    perSecond: CHANGES_PER_SECOND,
    seconds,
    send: async (index) => {
      await change(from + index);
    },
  });
  return tookMs.length;
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

function p99Of(values: readonly number[]): number {
  return percentile(ascending(values), 0.99);
}
