import type { LastDelivery, RefusedRun } from '../../book/attention.ts';
import { creditsNumber, type Micro } from '../../domain/credits.ts';
import { PERIOD_WORDS } from '../../domain/limit-periods.ts';
import { SOON_DAYS } from '../../domain/pace.ts';
import { SPENDING_OWNERS } from '../../domain/spending-limits.ts';
import type { LimitView } from '../keys/limit-view.ts';
import type { AccountKind } from './attention-view.ts';
import { counted, type Draft, durationOf, type Kinds, quoted } from './items.ts';

export const DAY_MS = 86_400_000;

/** Facts about an account, without those the reader may not see. Times are milliseconds since the epoch. */
export interface AccountFacts {
  readonly now: number;
  readonly account: { readonly id: number; readonly name: string } & (
    | {
        readonly balance: Micro;
        /** Days that the balance lasts; null: no pace. */
        readonly lasts: number | null;
        /** Calls refused for want of credits, and since when. */
        readonly refused: number;
        readonly refusedSince: number | null;
      }
    | { readonly balance?: undefined }
  );
  readonly limits: readonly { readonly id: number; readonly name: string; readonly limit: LimitView }[];
  /** Of keys whose last calls were all refused, which neither their end nor a spent limit explains. */
  readonly refusedRuns: readonly RefusedRun[];
  readonly keys: readonly { readonly id: number; readonly name: string; readonly expiresAt: number | null }[];
  readonly nameOfKey: (id: number) => string;
  readonly deliveries: readonly LastDelivery[];
}

/** The kinds of an account: pure functions of the facts. */
export const ACCOUNT_ATTENTION: Kinds<AccountKind, AccountFacts> = {
  out_of_credits: ({ account }) => outOfCredits(account),

  limit_reached: ({ limits }) =>
    limits
      .filter(({ limit }) => Number(limit.remaining) === 0)
      .sort(byReach)
      .map(({ id, name, limit }) => {
        const { of, period, credits, resets_at } = limit;
        const whose = of === 'account' ? 'the account' : `${of} ${quoted(name)}`;
        const until = resets_at === null ? 'and never resets' : `until ${resets_at}`;
        return {
          subject: { type: of, id, name },
          until: resets_at,
          message: `The ${PERIOD_WORDS[period]} spending limit of ${whose} (${counted(credits, 'credit')}) is spent ${until}.`,
        };
      }),

  calls_refused: ({ account, refusedRuns, nameOfKey }) =>
    [...Map.groupBy(refusedRuns, ({ keyId }) => keyId)]
      .map(([keyId, runs]) => runOf(keyId, nameOfKey(keyId), runs))
      // Callers that see the account get `out_of_credits` instead, unless it was topped up since.
      .filter(({ code }) => code !== 'insufficient_credits' || account.balance === undefined)
      .sort((one, other) => other.count - one.count),

  low_balance: ({ account, now }) => lowBalance(account, now),

  webhook_failed: ({ deliveries }) =>
    deliveries
      .filter(({ status }) => status !== 'delivered')
      .map(({ keyId, url, status, error, httpStatus, attemptedAt }) => {
        const reason = httpStatus === null ? (error ?? status) : `HTTP ${httpStatus}`;
        return {
          since: attemptedAt,
          subject: { type: 'webhook', id: keyId, name: url },
          code: error ?? status,
          message: `The last alert to ${url} was not delivered: ${reason}.`,
        };
      }),

  key_expires: ({ keys, now }) =>
    keys
      .toSorted((one, other) => (one.expiresAt ?? Infinity) - (other.expiresAt ?? Infinity))
      .flatMap(({ id, name, expiresAt }) =>
        expiresAt === null || expiresAt <= now || expiresAt > now + EXPIRES_SOON_MS
          ? []
          : [
              {
                subject: { type: 'key', id, name },
                until: expiresAt,
                message: `Key ${quoted(name)} expires in ${durationOf((expiresAt - now) / DAY_MS)}.`,
              } as const,
            ],
      ),
};

export const EXPIRES_SOON_MS = 7 * DAY_MS;

/** The draft of an account that has no credits for its calls; for its operator, too. */
export function outOfCredits(account: AccountFacts['account']): readonly Draft[] {
  if (account.balance === undefined || account.refused === 0) return [];
  const { id, name, refused, refusedSince } = account;
  return [
    {
      since: refusedSince,
      count: refused,
      subject: { type: 'account', id, name },
      code: 'insufficient_credits',
      message: `${quoted(name)} has too few credits: ${counted(refused, 'call')} refused in the last 24 hours.`,
    },
  ];
}

/** The draft of an account whose balance runs out soon; of one that is out of credits, none. */
export function lowBalance(account: AccountFacts['account'], now: number): readonly Draft[] {
  if (account.balance === undefined || account.refused > 0) return [];
  const { id, name, balance, lasts } = account;
  if (lasts === null || lasts >= SOON_DAYS) return [];
  const left = `${creditsNumber(balance)} credits`;
  return [
    {
      subject: { type: 'account', id, name },
      until: now + Math.round(lasts * DAY_MS),
      message:
        lasts === 0
          ? `${quoted(name)} has no credits left.`
          : `${quoted(name)} has ${left}, which last ${durationOf(lasts)} at the pace of the last 7 days.`,
    },
  ];
}

/** The last refused calls of a key, of any code. */
function runOf(keyId: number, name: string, runs: readonly RefusedRun[]) {
  const count = runs.reduce((sum, run) => sum + run.count, 0);
  const [latest] = runs.toSorted((one, other) => other.last - one.last);
  const code = latest?.code ?? '';
  return {
    since: Math.min(...runs.map(({ first }) => first)),
    count,
    subject: { type: 'key', id: keyId, name },
    code,
    message: `The last ${counted(count, 'call')} of key ${quoted(name)} were refused; the last one with ${code}.`,
  } satisfies Draft;
}

/** The account's limits first, then members', then keys'; of one owner's, those that refuse calls the longest. */
function byReach(one: AccountFacts['limits'][number], other: AccountFacts['limits'][number]): number {
  const rank = ({ limit }: typeof one) => SPENDING_OWNERS.indexOf(limit.of);
  const end = ({ limit: { resets_at } }: typeof one) =>
    resets_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(resets_at);
  return rank(other) - rank(one) || end(other) - end(one);
}
