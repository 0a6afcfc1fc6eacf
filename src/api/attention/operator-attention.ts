import type { AccountSums } from '../../book/account-sums.ts';
import type { LastDelivery, ProviderCall } from '../../book/attention.ts';
import { lastsDays } from '../../domain/pace.ts';
import { causeOf } from '../../gateway/targets/failures.ts';
import type { TargetReport } from '../../gateway/targets/target-health.ts';
import { DAY_MS, lowBalance, outOfCredits } from './account-attention.ts';
import type { OperatorKind } from './attention-view.ts';
import { counted, type Draft, type Kinds } from './items.ts';

/** Attempts of a provider that say something about it, and the share of them that may fail. */
const LEAST_ATTEMPTS = 5;
const FAILING_SHARE = 1 / 5;
/** Age of the journal's oldest entry, in milliseconds, with which the book is behind. */
const LATE_MS = 60_000;
/** Names of fields in a message. */
const NAMES_SHOWN = 5;

/** State of the gateway itself. */
export interface GatewayFacts {
  /** Why Redis may lose charges, one sentence each. */
  readonly redisFaults: readonly string[];
  /** Ledger entries that the book lacks, the age of the oldest, and those that it refuses; undefined: unknown. */
  readonly journal:
    | { readonly entries: number; readonly ageMs: number; readonly refused: number }
    | undefined;
  /** Fields of requests that the price tables lack, with the time of the last report. */
  readonly unknownMembers: ReadonlyMap<string, number>;
}

/** Facts about a gateway and its accounts. Times are milliseconds since the epoch. */
export interface OperatorFacts extends GatewayFacts {
  readonly now: number;
  /** Targets of the catalog as this process knows them, by the name of their upstream. */
  readonly targets: readonly (TargetReport & { readonly upstream: string })[];
  /** Calls of the last hour. */
  readonly calls: readonly ProviderCall[];
  /** Active accounts that are out of credits, or spend. */
  readonly accounts: readonly AccountSums[];
  /** Last deliveries of the last day. */
  readonly deliveries: readonly LastDelivery[];
}

const GATEWAY = { type: 'gateway', id: null, name: 'Tollgate' } as const;

/** The kinds of an operator: pure functions of the facts. */
export const OPERATOR_ATTENTION: Kinds<OperatorKind, OperatorFacts> = {
  redis_not_durable: ({ redisFaults }) =>
    redisFaults.length === 0 ? [] : [{ subject: GATEWAY, message: redisFaults.join(' ') }],

  journal_waiting: ({ journal, now }) => {
    if (!journal || (journal.ageMs <= LATE_MS && journal.refused === 0)) return [];
    const { entries, ageMs, refused } = journal;
    const waiting = `${entries} ledger ${entries === 1 ? 'entry waits' : 'entries wait'} for the database`;
    const why = refused === 0 ? '' : `, which refuses ${refused} of them`;
    return [{ since: now - ageMs, count: entries, subject: GATEWAY, message: `${waiting}${why}.` }];
  },

  credential_refused: ({ targets, calls }) => {
    const refusals = Map.groupBy(
      attemptsOf(calls).filter(({ isRefusal }) => isRefusal),
      ({ target }) => target,
    );
    const refused = targets.filter(({ cause }) => cause === 'credential');
    return [...Map.groupBy(refused, ({ target }) => target)].map(([target, [first]]) => {
      const times = (refusals.get(target) ?? []).map(({ at }) => at);
      const upstream = first?.upstream ?? target;
      return {
        since: Math.min(...times, first?.outSince ?? Infinity, first?.lastErrorAt ?? Infinity),
        count: times.length,
        subject: { type: 'upstream', id: upstream, name: target },
        code: 'credential',
        message: `${target} refuses the credential of this gateway.`,
      };
    });
  },

  provider_failing: ({ calls }) =>
    [...Map.groupBy(attemptsOf(calls), ({ upstream }) => upstream)]
      .flatMap(([upstream, attempts]) => {
        const failed = attempts.filter(({ hasFailed }) => hasFailed);
        const isFailing =
          attempts.length >= LEAST_ATTEMPTS && failed.length >= attempts.length * FAILING_SHARE;
        const draft: Draft = {
          since: Math.min(...failed.map(({ at }) => at)),
          count: failed.length,
          subject: { type: 'upstream', id: upstream, name: upstream },
          message: `${failed.length} of ${attempts.length} attempts at ${upstream} failed in the last hour.`,
        };
        return isFailing ? [{ draft, share: failed.length / attempts.length }] : [];
      })
      .sort((one, other) => other.share - one.share)
      .map(({ draft }) => draft),

  account_out_of_credits: ({ accounts }) =>
    accounts
      .toSorted((one, other) => other.refused - one.refused)
      .flatMap((sums) => outOfCredits({ ...sums, lasts: null })),

  account_runs_dry: ({ accounts, now }) =>
    accounts
      .map((sums) => ({ ...sums, lasts: lastsDays(sums.balance, sums, Math.floor(now / DAY_MS)) }))
      .sort((one, other) => (one.lasts ?? Infinity) - (other.lasts ?? Infinity))
      .flatMap((account) => lowBalance(account, now)),

  alerts_failing: ({ deliveries }) => {
    const failed = deliveries.filter(({ status }) => status !== 'delivered');
    if (failed.length === 0) return [];
    const receivers = counted(failed.length, 'receiver');
    return [
      {
        since: Math.min(...failed.map(({ attemptedAt }) => attemptedAt)),
        count: failed.length,
        subject: GATEWAY,
        message: `The last alert to ${receivers} was not delivered.`,
      },
    ];
  },

  unknown_members: ({ unknownMembers, now }) => {
    const recent = [...unknownMembers].filter(([, at]) => at > now - DAY_MS);
    if (recent.length === 0) return [];
    const names = recent.slice(0, NAMES_SHOWN).map(([name]) => name);
    const more = recent.length > names.length ? ' and more' : '';
    return [
      {
        since: Math.min(...recent.map(([, at]) => at)),
        count: recent.length,
        subject: GATEWAY,
        message: `Requests have fields that the price tables lack: ${names.join(', ')}${more}. Check whether the provider bills for them.`,
      },
    ];
  },
};

export interface KnownAttempt {
  readonly upstream: string;
  readonly model: string;
  readonly target: string;
  readonly at: number;
  readonly hasFailed: boolean;
  /** Whether the provider refused the credential. */
  readonly isRefusal: boolean;
}

/** Each attempt of the calls. All but the last of a call have failed. */
export function attemptsOf(calls: readonly ProviderCall[]): KnownAttempt[] {
  return calls.flatMap(({ upstream, model, at, status, outcome, attempts }) => {
    const tries = attempts ?? [{ target: upstream, status }];
    return tries.map((attempt, index) => ({
      upstream: attempt.target.replace(/#\d+$/, ''),
      target: attempt.target,
      model,
      at,
      hasFailed: index < tries.length - 1 || hasFailed(outcome, attempt.status),
      isRefusal: attempt.status === 401,
    }));
  });
}

/** Whether the provider failed: a request that it refuses as wrong, or a client that left, is no failure of it. */
function hasFailed(outcome: ProviderCall['outcome'], status: number | null): boolean {
  if (outcome === null || outcome === 'complete' || outcome === 'client_left') return false;
  if (outcome !== 'upstream_error') return true;
  return status === null || status < 400 || causeOf(status) !== undefined;
}
