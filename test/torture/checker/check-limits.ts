import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import {
  highestWithin,
  LIMIT_FIELDS,
  type Limits,
  type LimitsModel,
  limitsWithin,
  mayBeLimited,
  wasSurelyNoneWithin,
} from '../model/limits-model.ts';
import type { Loss, Model } from '../model/model.ts';
import type { Snapshot } from './snapshot.ts';
import type { Use } from './uses.ts';

const MINUTE_MS = 60_000;

/** Rounding error of times in whole milliseconds. */
const ROUNDING_MS = 2;

/** A key or an account, with its limits and the calls that count in them. */
interface Limited {
  readonly name: string;
  readonly limits: LimitsModel;
  readonly uses: readonly Use[];
  /** Losses of its state in Redis, which reset its limits to unused. */
  readonly losses: readonly Span[];
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Checks rate limits (specification section 11): never more open calls than the limit at any moment, and never more
 * requests or tokens in any window than the bucket holds and refills. If Redis loses all its data, limits start over
 * (docs/guarantees.md). If calls wait for a replica, a failover loses nothing of sent calls.
 */
export function checkLimits(model: Model, uses: readonly Use[], waitReplicas: boolean): string[] {
  const replicated = uses.filter(({ mayBeReplicated }) => mayBeReplicated);
  const faults = limited(model, uses, model.losses).flatMap(faultsOf);
  if (!waitReplicas) return faults;
  const whole = model.losses.filter(({ isFailover }) => !isFailover);
  const more = limited(model, replicated, whole).flatMap(faultsOf);
  return [...faults, ...more.filter((fault) => !faults.includes(fault))];
}

function limited(model: Model, uses: readonly Use[], losses: readonly Loss[]): Limited[] {
  const spansOf = (accountId: number) =>
    losses.filter(({ buckets }) => buckets.has(bucketOf(accountId))).map(spanOf);
  return [
    ...model.keys.map((key) => ({
      name: `key ${key.id}`,
      limits: key.limits,
      uses: uses.filter((use) => use.key === key),
      losses: spansOf(key.account.id),
    })),
    ...model.accounts.map((account) => ({
      name: `account ${account.id}`,
      limits: account.limits,
      uses: uses.filter((use) => use.key.account === account),
      losses: spansOf(account.id),
    })),
  ];
}

/** A frozen master may run waiting commands until it learns that it was replaced. */
function spanOf({ from, at, isFailover, trouble }: Loss): Span {
  return { from, to: isFailover ? (trouble?.to ?? at) : at };
}

function faultsOf(owner: Limited): string[] {
  return [checkParallel(owner), checkRequests(owner), checkTokens(owner)].flatMap((fault) => fault ?? []);
}

/**
 * When a call arrives at the upstream, all earlier calls that have not ended were open at the last admission, so
 * together they were within the limit of that time. Lowering a limit ends no call.
 */
function checkParallel({ name, limits, uses, losses }: Limited): string | undefined {
  for (const { heldAt: now } of uses) {
    const lostAt = Math.max(0, ...losses.filter(({ from }) => from <= now).map(({ to }) => to));
    const open = uses.filter(({ from, heldAt, until }) => from > lostAt && heldAt <= now && until > now);
    if (open.length < 2) continue;
    const lastFrom = Math.max(...open.map(({ from }) => from));
    const limit = highestWithin(limits.max_parallel_requests, lastFrom, now);
    if (limit === null || open.length <= limit) continue;
    return `${name}: ${open.length} calls were open at ${now}, and ${limit} are allowed: ${open.map((use) => use.name)}`;
  }
  return undefined;
}

function checkRequests({ name, limits, uses, losses }: Limited): string | undefined {
  const inTheirOrder = uses.toSorted((a, b) => a.heldAt - b.heldAt);
  for (const { from } of uses) {
    let count = 0;
    for (const { from: mayBeginAt, heldAt: to } of inTheirOrder) {
      if (mayBeginAt < from) continue;
      const limit = highestWithin(limits.rpm_limit, from, to);
      if (limit === null || isLostWithin(losses, from, to)) break;
      count += 1;
      const allowed = limit + refilled(limit, from, to);
      if (count <= allowed) continue;
      return `${name}: ${count} calls began from ${from} to ${to}, and ${allowed.toFixed(2)} are allowed by a limit of ${limit} a minute`;
    }
  }
  return undefined;
}

/**
 * Calls of a window took at least their usage, or their admission's amount if they have not ended. Earlier calls may
 * return unused tokens in the window. Usage beyond the admission's amount is left out, because the limit doesn't bound
 * it.
 */
function checkTokens({ name, limits, uses, losses }: Limited): string | undefined {
  const inTheirOrder = uses.toSorted((a, b) => a.heldAt - b.heldAt);
  for (const { from } of uses) {
    const before = uses.filter(
      (use) =>
        use.from < from &&
        use.correctedAt >= from &&
        !wasSurelyNoneWithin(limits.tpm_limit, use.heldAt, from),
    );
    const givenBack = before.reduce((sum, use) => sum + mostGivenBack(use), 0);
    const within: Use[] = [];
    for (const use of inTheirOrder) {
      if (use.from < from) continue;
      const to = use.heldAt;
      const limit = highestWithin(limits.tpm_limit, from, to);
      if (limit === null || isLostWithin(losses, from, to)) break;
      within.push(use);
      const lowest = lowestWithin(limits, from, to);
      const taken = within.reduce((sum, each) => sum + leastTokens(each, lowest, to), 0);
      const allowed = limit + refilled(limit, from, to) + givenBack;
      if (taken <= allowed) continue;
      return `${name}: ${taken} tokens were taken from ${from} to ${to}, and ${allowed.toFixed(2)} are allowed by a limit of ${limit} a minute, with ${givenBack} given back`;
    }
  }
  return undefined;
}

function leastTokens({ tookTokens, usedTokens = 0, until }: Use, limit: number, now: number): number {
  const took = Math.min(tookTokens.least, limit);
  return until > now ? took : Math.min(took, usedTokens);
}

function mostGivenBack({ tookTokens, usedTokens = 0 }: Use): number {
  return Math.max(0, tookTokens.most - usedTokens);
}

function lowestWithin({ tpm_limit }: LimitsModel, from: number, to: number): number {
  const limits = tpm_limit.filter(({ askedAt }) => askedAt <= to).flatMap(({ limit }) => limit ?? []);
  return highestWithin(tpm_limit, from, to) === null ? 0 : Math.min(...limits);
}

function refilled(limit: number, from: number, to: number): number {
  return (limit * (to - from + ROUNDING_MS)) / MINUTE_MS;
}

function isLostWithin(losses: readonly Span[], from: number, to: number): boolean {
  return losses.some((loss) => loss.from <= to && loss.to >= from);
}

/** Checks that no call got 429, from its gateway or from the upstream in its name, without a limit in force. */
export function checkRefusals({ calls }: Model, reached: ReadonlyMap<number, number>): string[] {
  const faults: string[] = [];
  for (const { id, key, startedAt, answer } of calls) {
    if (answer?.status !== 429) continue;
    const isOurs = answer.text.includes('rate_limit_exceeded');
    if (reached.has(id)) {
      if (isOurs) faults.push(`call ${id} was refused by a limit and sent: ${answer.text}`);
      continue;
    }
    const limits = [key.limits, key.account.limits];
    const isLimited = limits.some((each) => mayBeLimited(each, startedAt, answer.endedAt));
    if (!isLimited)
      faults.push(`call ${id} was refused by a limit that key ${key.id} does not have: ${answer.text}`);
  }
  return faults;
}

type Live = Readonly<Record<string, string>>;

/**
 * Checks at rest that the book has the last confirmed limits, that Redis has the same as the book, that no call counts
 * as open, and that nothing remains of removed limits.
 */
export function checkLiveLimits(snapshot: Snapshot, model: Model): string[] {
  const { accounts, keys, liveAccounts, liveKeys } = snapshot;
  return [
    ...accounts.flatMap((row) => {
      const known = model.accounts.find(({ id }) => id === row.id);
      const name = `account ${row.id}`;
      return [
        ...(known ? checkBook(name, row, known.limits) : []),
        ...checkLive(name, row, liveAccounts.get(row.id)),
      ];
    }),
    ...keys.flatMap((row) => {
      const known = model.keys.find(({ id }) => id === row.id);
      const name = `key ${row.id}`;
      const live = liveKeys.get(row.id);
      const isLive = live?.ep !== undefined && live.ep === liveAccounts.get(row.account_id)?.ep;
      return [
        ...(known ? checkBook(name, row, known.limits) : []),
        ...(isLive ? checkLive(name, row, live) : []),
      ];
    }),
  ];
}

function checkBook(name: string, row: Limits, limits: LimitsModel): string[] {
  return LIMIT_FIELDS.filter(
    (field) => !limitsWithin(limits[field], Date.now(), Infinity).includes(row[field]),
  ).map((field) => `${name}: ${field} is ${row[field]} in the book, which was not answered last`);
}

function checkLive(name: string, row: Limits & { readonly version: number }, live: Live = {}): string[] {
  // The next sweep publishes a change whose publication failed; the version shows it.
  if (live.ep === undefined || live.v !== String(row.version)) return [];
  const faults: string[] = [];
  const words = LIMIT_FIELDS.map((field) => row[field] ?? '-');
  const wanted = words.every((word) => word === '-') ? undefined : words.join(' ');
  if (live.lim !== wanted) faults.push(`${name}: limits are ${live.lim} in Redis, ${wanted} in the book`);
  if ((live.open ?? '0') !== '0')
    faults.push(`${name}: ${live.open} calls counted as open in Redis, there are none`);
  const states = { rq: row.rpm_limit, tk: row.tpm_limit, open: row.max_parallel_requests };
  for (const [field, limit] of Object.entries(states)) {
    const isKept = live[field] !== undefined;
    if (isKept !== (limit !== null))
      faults.push(`${name}: ${field} is ${live[field]} in Redis, its limit ${limit}`);
  }
  return faults;
}
