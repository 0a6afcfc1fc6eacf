import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from '../../src/domain/ledger-entry.ts';
import { attemptDifferences, differences } from '../helper/check/rows-of-provider.ts';
import { until } from '../helper/check/until.ts';
import { SAID } from '../helper/stand-ins/agents/agent-provider.ts';
import type { TestAccount } from '../helper/start/gateway-in-process.ts';
import { type Case, type Client, type Deed, REFUSALS, type Refusal, type Task } from './clients.ts';
import { launch, lettersOf, type Run } from './launch.ts';
import type { Answered } from './tap.ts';
import { CAUSES, type Cause, type World } from './world.ts';

export const CASES: readonly Case[] = [
  ...(['call', 'stream', 'tools', 'models', 'targets', 'encrypted'] as const),
  ...REFUSALS,
  'left',
];

/** Cases that need targets: one more than there are ways to die. */
export const WITH_TARGETS: ReadonlySet<Case> = new Set(['targets', 'encrypted']);
export const PLACES = 4;

/** ● works, or its user reads our message at once; ◐ works with a loss; ○ does not work; – has no such feature. */
export type Mark = '●' | '◐' | '○' | '–';

export interface Result {
  readonly mark: Mark;
  /** What a reader should know about any mark but ●. */
  readonly note?: string | undefined;
  /** Differences between ledger and provider, one a line. */
  readonly differences: readonly string[];
  /** The client's output. */
  readonly output?: string;
}

export const STEPS = 10;
/** The longest run of a client. One that still repeats then is stopped. */
const PATIENCE_MS = 150_000;
/** How long after the start of a slow answer the client is interrupted. */
const INTERRUPTED_AFTER_MS = 1_500;
const SLOW_PIECE_MS = 50;
/** What a person perceives as "at once". */
const AT_ONCE_S = 5;
/**
 * How soon the message of a call that was sent once must show: enough for a busy machine, too little for a client that
 * repeats.
 */
const SHOWS_WITHIN_S = 30;

/** Runs a client through a case. `folder` is where it is installed, `home` its home directory. */
export async function runCase(
  world: World,
  client: Client,
  name: Case,
  place: { readonly folder: string; readonly home: string },
): Promise<Result> {
  const reason = client.lacks?.[name] ?? (WITH_TARGETS.has(name) ? client.lacks?.tools : undefined);
  if (reason !== undefined) return { mark: '–', note: reason, differences: [] };
  const refusal = REFUSALS.find((one) => one === name);
  const cause: Cause = refusal ? CAUSES[refusal] : {};
  const { credits = 1_000, key: settings = {} } = cause;
  const account = await world.gateway.account({ credits, key: { ...settings, canManage: true } });
  world.provider.begin({
    fault: cause.fault,
    intervalMs: name === 'left' ? SLOW_PIECE_MS : undefined,
    deathsAfter: name === 'targets' ? DEATHS.map((share) => Math.round(share * callsOf(client))) : undefined,
    away: name === 'encrypted' ? AWAY : undefined,
  });
  let back: Promise<unknown> | undefined;
  const { isUsedUp, redisAwayMs } = cause;
  // As late as possible, because a limit or Redis could come back while a slow client starts.
  world.tap.begin(async () => {
    if (isUsedUp) await useUp(world, account);
    if (redisAwayMs === undefined) return;
    await world.redis.kill();
    back = sleep(redisAwayMs).then(() => redisBack(world));
  });
  const task: Task = {
    deed: deedOf(name),
    url: world.tap.url,
    key: cause.isKeyUnknown ? `${account.key.slice(0, -4)}0000` : account.key,
    model: cause.model ?? client.model,
    prompt: deedOf(name) === 'tools' ? `Take ${STEPS} steps.` : 'Say hello.',
    ...place,
  };
  const run = launch(client.command(task), place.home);
  const isOver = await overWithin(world, run, name);
  await back;
  const verdict = refusal
    ? resultOfRefusal(client, refusal, world.tap.answers, run, isOver)
    : resultOf(world, client, name, run);
  const rows = await rowsOf(world, account);
  const found = [
    // The provider does not count calls that end with a dead target.
    ...differences(
      name === 'targets' ? rows.filter(({ status }) => status === 200) : rows,
      world.provider.calls,
    ),
    ...(WITH_TARGETS.has(name) ? attemptDifferences(rows, world.provider.tries) : []),
  ];
  if (name === 'left' && found.length > 0)
    return { mark: '○', note: found[0], differences: found, output: run.output() };
  return { ...verdict, differences: found, output: run.output() };
}

/** Targets die after these shares of a run's calls. */
const DEATHS = [1 / 4, 1 / 2, 3 / 4];
/** As long as the SDKs' repeats last. */
const AWAY = { after: 4, ms: 1_000 };

/** Calls of a run with tools. */
const callsOf = ({ loops = 1 }: Client) => (STEPS + 1) * loops;

function deedOf(name: Case): Deed {
  if (name === 'left') return 'stream';
  if (WITH_TARGETS.has(name)) return 'tools';
  return name === 'call' || name === 'stream' || name === 'tools' || name === 'models' ? name : 'refused';
}

/** Shortest time for which a limit must stay used up, so that the client's call meets it on a busy machine. */
const USED_UP_MS = 4_000;

/** Makes its own calls until the account's limit refuses one for some time. */
async function useUp({ gateway }: World, { key }: TestAccount): Promise<void> {
  for (;;) {
    const response = await gateway.chat(key, { model: 'gpt-4.1-mini', max_tokens: 100 });
    await response.arrayBuffer();
    const againMs = Number(response.headers.get('retry-after-ms'));
    if (response.status === 429 && againMs >= USED_UP_MS) return;
    if (response.status === 429) await sleep(againMs);
    else if (!response.ok) throw new Error(`a call before the limit got ${response.status}`);
  }
}

/** Starts Redis again, and waits until the gateway has it. */
async function redisBack({ redis, gateway }: World): Promise<void> {
  await redis.start();
  const hasIt = () =>
    gateway.settled().then(
      () => true,
      () => undefined,
    );
  await until('the gateway to have Redis again', hasIt);
}

/** Waits for the end of a run, and interrupts it in the case `left`. Resolves with whether it ended by itself. */
async function overWithin({ provider }: World, run: Run, name: Case): Promise<boolean> {
  if (name === 'left') {
    const came = until('a streamed call', () => provider.calls.some(({ isStream }) => isStream), PATIENCE_MS);
    await Promise.race([came.catch(() => {}), run.ended]);
    await sleep(INTERRUPTED_AFTER_MS);
    run.kill('SIGINT');
  }
  const timer = new AbortController();
  const late = sleep(name === 'left' ? 5_000 : PATIENCE_MS, 'late', { signal: timer.signal }).catch(
    () => 'over',
  );
  const first = await Promise.race([late, run.ended]);
  timer.abort();
  run.kill('SIGKILL');
  await run.ended;
  return first !== 'late';
}

function resultOf(
  { provider, tap }: World,
  client: Client,
  name: Case,
  run: Run,
): Pick<Result, 'mark' | 'note'> {
  if (name === 'left') return { mark: '●' };
  if (name === 'models') {
    const isListed = lettersOf(run.output()).includes(lettersOf(client.model));
    return isListed ? { mark: '●' } : { mark: '○', note: lastWords(run) };
  }
  const refused = tap.answers.filter(({ method, status }) => method === 'POST' && status >= 400);
  if (!lettersOf(run.output()).includes(lettersOf(SAID))) {
    if (name === 'targets' && provider.sentBack.has('reference'))
      return { mark: '○', note: 'refers to what the target that died has stored' };
    return { mark: '○', note: refused[0]?.message ?? lastWords(run) };
  }
  const calls = provider.calls.filter(({ count }) => count).length;
  const wanted = callsOf(client);
  if (deedOf(name) === 'tools' && calls < wanted)
    return { mark: '◐', note: `made ${calls} calls instead of ${wanted}` };
  const failed = refused.find(({ status }) => status >= 500);
  if (name === 'targets' && failed) return { mark: '◐', note: `saw ${failed.message}` };
  if (name === 'encrypted' && !provider.sentBack.has('encrypted'))
    return { mark: '–', note: 'It sends no encrypted reasoning back' };
  if (name === 'tools' && client.isCompacting && !provider.calls.some(({ isCompaction }) => isCompaction))
    return { mark: '○', note: 'does not compact' };
  if (name === 'stream' && !provider.calls.some(({ isStream }) => isStream))
    return { mark: '○', note: 'does not ask for a stream' };
  return { mark: '●' };
}

const lastWords = (run: Run) => run.output().trim().split('\n').at(-1)?.slice(0, 200) ?? '';

function resultOfRefusal(
  client: Client,
  name: Refusal,
  answers: readonly Answered[],
  run: Run,
  isOver: boolean,
): Pick<Result, 'mark' | 'note'> {
  const refused = answers.filter(({ method, status }) => method === 'POST' && status >= 400);
  const [first] = refused.toSorted((a, b) => a.atMs - b.atMs);
  if (!first) return { mark: '○', note: 'sent nothing that was refused' };
  const repeats = [...Map.groupBy(refused, ({ request }) => request).values()];
  const sent = Math.max(...repeats.map(({ length }) => length));
  const spanS = (Math.max(...refused.map(({ atMs }) => atMs)) - first.atMs) / 1_000;
  // Times are rounded up, so that the page does not change with each run.
  const times = sent === 1 ? 'sent once' : `sent ${sent} times within ${Math.ceil(spanS / 10) * 10} s`;
  const since = (atMs: number) => {
    const seconds = (atMs - first.atMs) / 1_000;
    return seconds <= AT_ONCE_S ? 'at once' : `after ${Math.ceil(seconds / 10) * 10} s`;
  };
  // A repeat helps if the limit or the gateway comes back.
  const mayRepeat = name === '503' || name === '429';
  const wentOnMs = mayRepeat ? run.shownAtMs(SAID) : undefined;
  if (wentOnMs !== undefined) return { mark: '●', note: `${times}, goes on ${since(wentOnMs)}` };
  const words = refused
    .map(({ message }) => message?.slice(0, 80) ?? '')
    .find((one) => run.shownAtMs(one) !== undefined);
  const own = client.ownWords?.[name];
  const shownMs = (words === undefined ? undefined : run.shownAtMs(words)) ?? (own && run.shownAtMs(own));
  if (shownMs === undefined) {
    const why = isOver
      ? 'does not show the words'
      : `still repeats after ${PATIENCE_MS / 1_000} s, without words`;
    return { mark: '○', note: `${times}, ${why}` };
  }
  const seconds = (shownMs - first.atMs) / 1_000;
  const isRight = (sent === 1 && seconds <= SHOWS_WITHIN_S) || (mayRepeat && isOver);
  return { mark: isRight ? '●' : '◐', note: `${times}, words ${since(shownMs)}` };
}

/** The account's rows of calls, the oldest first, once all of the provider's calls have ended. */
async function rowsOf({ gateway, provider }: World, { accountId }: TestAccount): Promise<LedgerEntry[]> {
  await Promise.all(provider.calls.map(({ ended }) => ended));
  const rows = async () => {
    await gateway.settled();
    const entries = await gateway.book.ledger({ accountId, limit: 200 });
    return entries.filter(({ type }) => type === 'charge').reverse();
  };
  const enough = async () => ((await rows()).length >= provider.calls.length ? true : undefined);
  // Rows that never come are reported as differences.
  await until('the rows of all calls', enough).catch(() => {});
  return await rows();
}
