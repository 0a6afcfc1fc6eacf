import { changeCredits } from './accounts.ts';
import { agentCall } from './agent-call.ts';
import { chatCall } from './call-request.ts';
import { halfOf, withHalfLoad } from './half-load.ts';
import { load } from './load.ts';
import type { Options } from './options.ts';
import { peerTarget } from './peer.ts';
import { callTable, type ProfileReport, type Row } from './report.ts';
import { measure } from './rounds.ts';
import { onStage, type Stage } from './stage.ts';
import { usageOf } from './usage.ts';

/** A kilobyte of request and half a kilobyte of answer. */
const PROMPT_BYTES = 750;
/** A fast model; models write a token every few milliseconds. */
const SSE = { chunks: 100, intervalMs: 4 };
const AGENT_SSE = { chunks: 20, intervalMs: 4 };

/**
 * V8 keeps compiling hot code: the gateway's other threads took 17 µs of a call's CPU after 15,000 calls, and 11 µs
 * after 120,000.
 */
const WARM_UP_ROUNDS = 5;

/** One account with one key with every restriction, through the gateway and every baseline. */
async function againstBaselines(
  options: Options,
  profile: {
    name: string;
    about: string;
    connections: number;
    alone: boolean;
    /** nginx and HAProxy too. */
    plain: boolean;
    half?: boolean;
    warmUpRounds?: number;
  },
  requestOf: (key: string) => ReturnType<typeof chatCall>,
): Promise<ProfileReport> {
  const { peer, upstreamPort } = options;
  const shape = { accounts: 1, keysEach: 1, restricted: true, upstreamPort };
  const { result, checks } = await onStage(shape, async (stage) => {
    const requests = [requestOf(keysOf(stage)[0] ?? '')];
    const others = peer ? [peerTarget(peer, requests)] : [];
    const plain = profile.plain ? await stage.plainProxies() : [];
    const targets = [stage.direct, stage.baseline, stage.gateway, ...others, ...plain];
    const measured = await measure(targets, { ...options, ...profile, requests });
    const table = callTable(measured, stage.baseline.name, profile.alone ? stage.direct.name : undefined);
    if (!profile.half) return { ...table, notes: [] };
    const two = [stage.baseline, stage.gateway];
    const perSecond = halfOf(two, measured);
    const note = `half: ${perSecond} calls a second, half of what the slower of the two can; ms from when a call was due`;
    return { ...(await withHalfLoad(table, two, perSecond, { ...options, requests })), notes: [note] };
  });
  return { profile: profile.name, about: profile.about, ...result, checks };
}

export function json(options: Options): Promise<ProfileReport> {
  const about = 'chat calls of 1 KB, by a key with every restriction set; 32 connections';
  return againstBaselines(
    options,
    {
      name: 'json',
      about,
      connections: 32,
      alone: true,
      plain: true,
      half: true,
      warmUpRounds: WARM_UP_ROUNDS,
    },
    (key) => chatCall(key, { promptBytes: PROMPT_BYTES }),
  );
}

export function sse(options: Options): Promise<ProfileReport> {
  const about = `streams of ${SSE.chunks} chunks, one every ${SSE.intervalMs} ms; 64 connections`;
  return againstBaselines(
    options,
    { name: 'sse', about, connections: 64, alone: false, plain: true, warmUpRounds: WARM_UP_ROUNDS },
    (key) => chatCall(key, { promptBytes: PROMPT_BYTES, stream: true, behavior: SSE }),
  );
}

export function body(options: Options): Promise<ProfileReport> {
  const about = 'chat calls of 1 MB, answers of 1 KB; 8 connections';
  return againstBaselines(
    options,
    { name: 'body', about, connections: 8, alone: true, plain: false },
    (key) => chatCall(key, { promptBytes: 2 ** 20 }),
  );
}

/** The requests of an agent: tools, the whole history and tool results. With whole and streamed answers. */
export async function agent(options: Options): Promise<ProfileReport> {
  const about =
    'chat calls of an agent of 228 KB; 8 connections; streams: 20 chunks, one every 4 ms; 32 connections';
  const { peer, upstreamPort } = options;
  const shape = { accounts: 1, keysEach: 1, restricted: true, upstreamPort };
  const { result, checks } = await onStage(shape, async (stage) => {
    const [key = ''] = keysOf(stage);
    const plain = await stage.plainProxies();
    const rows: Row[] = [];
    let columns: ProfileReport['columns'] = [];
    for (const isStream of [false, true]) {
      const requests = [agentCall(key, isStream ? { stream: true, behavior: AGENT_SSE } : {})];
      const targets = [
        stage.direct,
        stage.baseline,
        stage.gateway,
        ...(peer ? [peerTarget(peer, requests)] : []),
        ...plain,
      ];
      const load = { connections: isStream ? 32 : 8, alone: !isStream, warmUpRounds: WARM_UP_ROUNDS };
      const measured = await measure(targets, { ...options, ...load, requests });
      const table = callTable(measured, stage.baseline.name, isStream ? undefined : stage.direct.name);
      if (!isStream) columns = table.columns;
      rows.push(
        ...table.rows.map((row) => ({ ...row, target: `${isStream ? 'SSE' : 'JSON'}, ${row.target}` })),
      );
    }
    return { columns, rows, notes: [] };
  });
  return { profile: 'agent', about, ...result, checks };
}

/** Compares many keys in turn, and the first keys of many accounts in turn, with one key. */
export async function keys(options: Options): Promise<ProfileReport> {
  const about = `restricted keys in turn, each seen once before, against one of them; ${options.accounts} accounts; 32 connections`;
  const keysEach = Math.ceil(options.keys / options.accounts);
  const shape = { accounts: options.accounts, keysEach, restricted: true, many: true };
  const { result, checks } = await onStage(shape, async (stage) => {
    const callsOf = (values: readonly string[]) =>
      values.map((key) => chatCall(key, { promptBytes: PROMPT_BYTES }));
    const all = callsOf(keysOf(stage).slice(0, options.keys));
    const requests = all.slice(0, 1);
    const firsts = callsOf(stage.accounts.map((account) => account.keys[0] ?? ''));
    const idle = await memoryOf(stage);
    const targets = [
      { ...stage.gateway, name: '1 key' },
      { ...stage.gateway, name: `${firsts.length} accounts, a key each`, requests: firsts },
      { ...stage.gateway, name: `${all.length} keys`, requests: all },
    ];
    const measured = await measure(targets, { ...options, requests, connections: 32, alone: false });
    const used = await memoryOf(stage);
    const note = `memory before the first call and after the last: Redis ${idle.redis} and ${used.redis} MB, gateway ${idle.gateway} and ${used.gateway} MB`;
    return { ...callTable(measured, '1 key'), notes: [note] };
  });
  return { profile: 'keys', about, ...result, checks };
}

/** In MB. */
async function memoryOf({ gateway, redis }: Stage): Promise<{ gateway: string; redis: string }> {
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
  return { gateway: megabytes(usageOf(gateway.pids).rssBytes), redis: megabytes(used) };
}

/** Compares calls on one account with the same calls on many. Then the account runs dry under the load. */
export async function hot(options: Options): Promise<ProfileReport> {
  const about = 'every call on one account, against 100 accounts; 100 connections; then it runs dry';
  const shape = { accounts: 100, keysEach: 1, restricted: false };
  const { result, checks } = await onStage(shape, async (stage) => {
    const all = keysOf(stage).map((key) => chatCall(key, { promptBytes: PROMPT_BYTES }));
    const requests = all.slice(0, 1);
    const cold = { ...stage.gateway, name: '100 accounts', requests: all };
    const one = { ...stage.gateway, name: '1 account' };
    const measured = await measure([cold, one], { ...options, requests, connections: 100, alone: false });
    return { ...callTable(measured, cold.name), notes: [await runDry(stage, requests)] };
  });
  return { profile: 'hot', about, ...result, checks };
}

/** Leaves credits for some of the concurrent calls: some are served, the others refused. */
async function runDry({ accounts, gateway, gateways }: Stage, requests: ReturnType<typeof chatCall>[]) {
  const [account, server] = [accounts[0], gateways[0]];
  if (!account || !server) throw new RangeError('the stage has an account and a gateway');
  // The rest pays for about a hundred calls.
  const left = 5;
  const balance = await changeCredits(server, account.id, left);
  await changeCredits(server, account.id, Math.round(2 * left - balance));
  const { statuses } = await load({
    urls: gateway.urls,
    connections: 100,
    amount: 2_000,
    requests,
    accepts: [200, 402],
  });
  const [served, refused] = [statuses.get(200) ?? 0, statuses.get(402) ?? 0];
  if (served === 0 || refused === 0) {
    throw new Error(`an account was to run dry: ${served} calls were served, ${refused} refused`);
  }
  return `ran dry: ${served} calls were served, ${refused} refused with 402`;
}

function keysOf(stage: Stage): string[] {
  return stage.accounts.flatMap(({ keys: values }) => values);
}
