import type { FastifyInstance, FastifySchema } from 'fastify';
import type { RefusedRun } from '../../book/attention.ts';
import type { Book } from '../../book/book.ts';
import { REFUSED_IN_A_ROW } from '../../book/refusals.ts';
import type { Only } from '../../book/usage.ts';
import { placesOf } from '../../domain/catalog.ts';
import { lastsDays } from '../../domain/pace.ts';
import { type Action, reachOf } from '../../domain/roles.ts';
import { limitsOfKey, NO_WINDOWS } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { accountLimits, liveAmounts } from '../account/account-view.ts';
import { memberLimits } from '../account/member-limits.ts';
import { type AccountCaller, type CallerParts, callerOf } from '../http/callers.ts';
import { keyViews } from '../keys/key-list.ts';
import { limitViews } from '../keys/limit-view.ts';
import { BY_ACCOUNT, BY_OPERATOR, OPERATOR_REFUSALS, OWNER_REFUSALS } from '../openapi/operation.ts';
import type { ProvidersDeps } from '../operator/admin-models-routes.ts';
import { ACCOUNT_ATTENTION, type AccountFacts, DAY_MS, EXPIRES_SOON_MS } from './account-attention.ts';
import {
  ACCOUNT_ATTENTION_EXAMPLE,
  ACCOUNT_KINDS,
  AccountAttention,
  type AccountAttentionView,
  OPERATOR_ATTENTION_EXAMPLE,
  OPERATOR_KINDS,
  OperatorAttention,
  type OperatorAttentionView,
} from './attention-view.ts';
import { attentionOf } from './items.ts';
import { type GatewayFacts, OPERATOR_ATTENTION, type OperatorFacts } from './operator-attention.ts';

const HOUR_MS = 3_600_000;

interface AttentionReading {
  readonly book: Book;
  readonly ledger: Ledger;
}

const ACCOUNT: FastifySchema = {
  tags: ['Account'],
  security: BY_ACCOUNT,
  operationId: 'readAttention',
  summary: 'List what needs attention',
  description:
    'Returns at most 20 items, worst first, some of each kind. Members get those of their own keys and membership, and a key that ' +
    "can't manage its own.",
  response: { 200: AccountAttention },
  'x-docs': {
    may: ['read the account', 'read keys'],
    refusals: OWNER_REFUSALS,
    answer: ACCOUNT_ATTENTION_EXAMPLE,
  },
};

/** `GET /api/account/attention/`: what an account's people or keys should do something about. */
export function attentionRoute(app: FastifyInstance, deps: AttentionReading & CallerParts): void {
  app.get('/api/account/attention/', { schema: ACCOUNT }, async (request): Promise<AccountAttentionView> => {
    const caller = await callerOf(deps, request, 'read the account', 'read keys');
    await deps.ledger.flush(caller.accountId);
    const facts = await accountFacts(deps, caller.accountId, scopeOf(caller), Date.now());
    return attentionOf(ACCOUNT_KINDS, ACCOUNT_ATTENTION, facts);
  });
}

/** What a reader sees of an account. */
interface Scope {
  /** Balance and limits of the account. */
  readonly account: boolean;
  /** Undefined: no keys. */
  readonly keys: Only | undefined;
  /** Undefined: of all members. */
  readonly onlyMember: number | undefined;
  readonly webhooks: boolean;
}

const NO_MEMBER = 0;

function scopeOf({ key, member }: AccountCaller): Scope {
  if (!member) {
    const isAll = key?.canManage === true;
    return {
      account: isAll,
      keys: isAll ? {} : { keyId: key?.id },
      onlyMember: isAll ? undefined : NO_MEMBER,
      webhooks: isAll,
    };
  }
  const reach = (action: Action) => reachOf(member.role, action);
  const ofKeys = reach('read keys');
  return {
    account: reach('read the account') === 'all',
    keys: ofKeys && (ofKeys === 'all' ? {} : { personId: member.personId }),
    onlyMember: reach('read members') === 'all' ? undefined : member.personId,
    webhooks: reach('read alerts') === 'all',
  };
}

async function accountFacts(
  deps: AttentionReading,
  accountId: number,
  scope: Scope,
  now: number,
): Promise<AccountFacts> {
  const { book } = deps;
  const [account, limits, keyFacts, deliveries] = await Promise.all([
    stateOfAccount(deps, accountId, scope, now),
    limitsOfMembers(deps, accountId, scope),
    factsOfKeys(deps, accountId, scope, now),
    scope.webhooks ? book.lastDeliveries({ accountId }) : [],
  ]);
  return {
    now,
    account: account.account,
    limits: [...account.limits, ...limits, ...keyFacts.limits],
    refusedRuns: keyFacts.refusedRuns,
    keys: keyFacts.keys,
    nameOfKey: keyFacts.nameOfKey,
    deliveries,
  };
}

async function stateOfAccount(
  { book, ledger }: AttentionReading,
  id: number,
  { account: isSeen }: Scope,
  now: number,
): Promise<Pick<AccountFacts, 'account' | 'limits'>> {
  const [[sums], record] = await Promise.all([isSeen ? book.accountSums([id], now) : [], book.account(id)]);
  const name = record?.name ?? '';
  if (!sums || !record) return { account: { id, name }, limits: [] };
  const live = await liveAmounts(ledger, id);
  const { refused, refusedSince } = sums;
  const lasts = lastsDays(live.balance, sums, Math.floor(now / DAY_MS));
  return {
    account: { id, name, balance: live.balance, lasts, refused, refusedSince },
    limits: accountLimits(record, live).map((limit) => ({ id, name, limit })),
  };
}

async function limitsOfMembers(
  deps: AttentionReading,
  accountId: number,
  { onlyMember }: Scope,
): Promise<AccountFacts['limits']> {
  if (onlyMember === NO_MEMBER) return [];
  const one = onlyMember === undefined ? undefined : await deps.book.member(accountId, onlyMember);
  const members = onlyMember === undefined ? await deps.book.members(accountId) : one ? [one] : [];
  const limited = members.filter(({ isActive, spendingLimits }) => isActive && spendingLimits.length > 0);
  const views = await memberLimits(deps, accountId, limited);
  return limited.flatMap(({ person }, at) =>
    (views[at] ?? []).map((limit) => ({ id: person.id, name: person.name || person.email, limit })),
  );
}

async function factsOfKeys(
  deps: AttentionReading,
  accountId: number,
  { keys: only }: Scope,
  now: number,
): Promise<Pick<AccountFacts, 'limits' | 'refusedRuns' | 'keys' | 'nameOfKey'>> {
  if (!only) return { limits: [], refusedRuns: [], keys: [], nameOfKey: String };
  const { book, ledger } = deps;
  const [keys, runs] = await Promise.all([
    book.watchedKeys(accountId, { from: now, to: now + EXPIRES_SOON_MS }, only),
    book.refusedRuns(accountId, now - DAY_MS, only),
  ]);
  const limited = keys.filter((key) => limitsOfKey(key).length > 0);
  const [windows, refused] = await Promise.all([
    ledger.windows(
      accountId,
      limited.map(({ id }) => id),
    ),
    allRefused(deps, accountId, runs),
  ]);
  const clock = ledger.now(accountId);
  return {
    limits: limited.flatMap((key, at) =>
      limitViews('key', limitsOfKey(key), windows[at] ?? NO_WINDOWS, clock).map((limit) => ({
        id: key.id,
        name: key.name,
        limit,
      })),
    ),
    refusedRuns: runs.filter(({ keyId }) => refused.has(keyId)),
    keys,
    nameOfKey: (id) => refused.get(id) ?? `No. ${id}`,
  };
}

/** Most keys whose status is read, those with the most refused calls. */
const MOST_REFUSED = 500;

/** Names, by id, of the keys with the status `all_refused`: no end and no spent limit explains why. */
async function allRefused(
  deps: AttentionReading,
  accountId: number,
  runs: readonly RefusedRun[],
): Promise<ReadonlyMap<number, string>> {
  const counts = new Map<number, number>();
  for (const { keyId, count } of runs) counts.set(keyId, (counts.get(keyId) ?? 0) + count);
  const ids = [...counts]
    .filter(([, count]) => count >= REFUSED_IN_A_ROW)
    .sort(([, one], [, other]) => other - one)
    .map(([id]) => id);
  const views = await keyViews(
    deps,
    accountId,
    await deps.book.keysOf(accountId, ids.slice(0, MOST_REFUSED)),
  );
  return new Map(views.filter(({ status }) => status === 'all_refused').map(({ id, name }) => [id, name]));
}

export interface OperatorAttentionDeps extends AttentionReading, ProvidersDeps {
  /** State of the gateway. Must not reject. */
  readonly gatewayFacts: () => Promise<GatewayFacts>;
}

const OPERATOR: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'readAttentionOfOperator',
  summary: 'List what needs the attention of the operator',
  description:
    'Returns at most 20 items, worst first, some of each kind. Credentials and unknown fields are those that the answering process saw.',
  response: { 200: OperatorAttention },
  'x-docs': { refusals: OPERATOR_REFUSALS, answer: OPERATOR_ATTENTION_EXAMPLE },
};

/** `GET /api/admin/attention/`: what the operator should do something about. */
export function adminAttentionRoute(app: FastifyInstance, deps: OperatorAttentionDeps): void {
  app.get('/api/admin/attention/', { schema: OPERATOR }, async (): Promise<OperatorAttentionView> => {
    await deps.ledger.flush('all');
    return attentionOf(OPERATOR_KINDS, OPERATOR_ATTENTION, await operatorFacts(deps, Date.now()));
  });
}

async function operatorFacts(
  { book, catalog, health, gatewayFacts }: OperatorAttentionDeps,
  now: number,
): Promise<OperatorFacts> {
  const models = [...placesOf(catalog())];
  const upstreams = [...new Set(models.map(({ upstream }) => upstream.name))];
  const calls = [];
  for (const upstream of upstreams) calls.push(...(await book.providerCalls(upstream, now - HOUR_MS)));
  const accounts = [];
  for await (const sums of book.allAccountSums(now)) {
    accounts.push(
      ...sums.filter(({ isActive, refused, spentOfPace }) => isActive && (refused > 0 || spentOfPace > 0n)),
    );
  }
  return {
    now,
    ...(await gatewayFacts()),
    targets: models.map((model) => ({ ...health.report(model), upstream: model.upstream.name })),
    calls,
    accounts,
    deliveries: await book.lastDeliveries({ since: now - DAY_MS }),
  };
}
