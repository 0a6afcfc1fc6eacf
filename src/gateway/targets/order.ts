import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Model, type Target, targetName } from '../../domain/catalog.ts';
import { CONVERSATION_HEADERS } from '../../domain/clients.ts';
import { FairTable } from '../../shares/fair-table.ts';

/** Whether a target may be used now, or else when, by `Date.now()`. */
export interface Availability {
  readonly isAvailable: boolean;
  /** 0 for a target that is up. */
  readonly outUntil: number;
}

/**
 * Orders the targets of a call: lowest priority number first, then by weight, and the same for all calls of one
 * affinity (rendezvous hashing: adding or removing a target moves only its own calls). Skips targets that are out,
 * unless all are; then the first to come back is used.
 */
export function orderOf(
  targets: readonly Target[],
  affinity: string,
  availability: (target: Target) => Availability,
): Target[] {
  const ranked = targets.map((target) => {
    const { isAvailable, outUntil } = availability(target);
    return { target, score: scoreOf(target, affinity), isAvailable, outUntil };
  });
  const available = ranked.filter(({ isAvailable }) => isAvailable);
  if (available.length === 0) {
    const first = ranked.reduce((a, b) => (b.outUntil < a.outUntil ? b : a));
    return [first.target];
  }
  available.sort((a, b) => a.target.priority - b.target.priority || b.score - a.score);
  return available.map(({ target }) => target);
}

/** Targets that are out while others are not, the first to come back first. */
export function outOf(targets: readonly Target[], availability: (target: Target) => Availability): Target[] {
  const out = targets.filter((target) => !availability(target).isAvailable);
  if (out.length === targets.length) return [];
  return out.sort((a, b) => availability(a).outUntil - availability(b).outUntil);
}

/** Hex digits of the hash used as a number: 48 bits. */
const HEX_DIGITS = 12;
const RANGE = 16 ** HEX_DIGITS;

/**
 * Weighted rendezvous hashing: with -weight/ln(u) for u uniform in (0, 1), a target has the largest score with a
 * probability proportional to its weight.
 */
function scoreOf(target: Target, affinity: string): number {
  const digits = hash('sha256', `${targetKey(target.model)} ${affinity}`).slice(0, HEX_DIGITS);
  const u = (Number.parseInt(digits, 16) + 0.5) / RANGE;
  return -target.weight / Math.log(u);
}

/** Name of a target among those of its model. */
export function targetKey({ upstream, upstreamModel }: Pick<Model, 'upstream' | 'upstreamModel'>): string {
  return `${targetName(upstream)} ${upstreamModel}`;
}

/** A conversation of an account, by a name that no other has. */
export interface Conversation {
  readonly accountId: number;
  readonly name: string;
}

/** Remembered conversations, at some 400 bytes each. */
const MAX_CONVERSATIONS = 10_000;

/** The last target of each conversation, in this process. */
export class LastTargets {
  readonly #targets = new FairTable<string>(MAX_CONVERSATIONS);

  note({ accountId, name }: Conversation, target: string): void {
    this.#targets.set(accountId, name, target);
  }

  of({ name }: Conversation): string | undefined {
    return this.#targets.get(name);
  }
}

/**
 * The only target for a call with encrypted reasoning that no known target produced: the one that answered its
 * conversation last, else the one that the conversation maps to while all are up.
 */
export function pinnedTarget(targets: readonly Target[], affinity: string, last: string | undefined): Target {
  const known = targets.find(({ model }) => targetKey(model) === last);
  return known ?? (orderOf(targets, affinity, () => UP)[0] as Target);
}

const UP: Availability = { isAvailable: true, outUntil: 0 };

const MAX_AFFINITY_CHARS = 256;

/**
 * Names the conversation of a call, because prompt caches are per credential; else its key. Mixed with the secret, so
 * that no client can compute which target a name leads to.
 */
export function affinityOf(
  body: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  keyId: number,
  secret: string,
): string {
  return hash('sha256', `${secret} ${conversationOf(body, headers) ?? `key ${keyId}`}`, 'base64');
}

function conversationOf(
  { prompt_cache_key: cacheKey }: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (typeof cacheKey === 'string' && cacheKey !== '') return cacheKey.slice(0, MAX_AFFINITY_CHARS);
  for (const name of CONVERSATION_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, MAX_AFFINITY_CHARS);
  }
  return undefined;
}
