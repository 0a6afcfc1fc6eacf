import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { CheckedKey } from '../../domain/rules.ts';
import { NO_WINDOWS } from '../../domain/spending-limits.ts';
import { spelledFreely } from '../../gateway/spellings.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { liveAmounts } from '../account/account-view.ts';
import { type CallerParts, callingKey, keyNotFound, managementNotAllowed } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_KEY, KEY_REFUSALS } from '../openapi/operation.ts';
import {
  BILLING_USAGE_EXAMPLE,
  BillingSubscription,
  BillingUsage,
  billingSubscription,
  billingUsage,
  OPENROUTER_CREDITS_EXAMPLE,
  OPENROUTER_KEY_EXAMPLE,
  OpenRouterCredits,
  OpenRouterKey,
  openRouterCredits,
  openRouterKey,
  type SpentKey,
  SUBSCRIPTION_EXAMPLE,
} from './compatible-view.ts';

export interface CompatibleDeps extends CallerParts {
  readonly book: Pick<Book, 'key'>;
  readonly ledger: Ledger;
}

const KEYS = { tags: ['Keys'], security: BY_KEY };

const KEY: FastifySchema = {
  ...KEYS,
  operationId: 'readKeyForOpenRouter',
  summary: "Read the calling key in OpenRouter's form",
  description:
    'For tools that show what is left of an OpenRouter key. Also at `/api/v1/auth/key`. Credits stand for dollars.',
  response: { 200: OpenRouterKey },
  'x-docs': { refusals: [...KEY_REFUSALS, 'invalid_field'], answer: OPENROUTER_KEY_EXAMPLE },
};

const CREDITS: FastifySchema = {
  tags: ['Account'],
  security: BY_KEY,
  operationId: 'readCreditsForOpenRouter',
  summary: "Read the balance in OpenRouter's form",
  description: 'The balance is `total_credits` minus `total_usage`. Only for a key that can manage.',
  response: { 200: OpenRouterCredits },
  'x-docs': {
    refusals: [...KEY_REFUSALS, 'invalid_field', 'management_not_allowed'],
    answer: OPENROUTER_CREDITS_EXAMPLE,
  },
};

const SUBSCRIPTION: FastifySchema = {
  ...KEYS,
  operationId: 'readBillingSubscription',
  summary: "Read the limit of the calling key in OpenAI's old form",
  description: 'For tools that show the balance of an OpenAI or one-api key. Credits stand for dollars.',
  response: { 200: BillingSubscription },
  'x-docs': { refusals: KEY_REFUSALS, answer: SUBSCRIPTION_EXAMPLE },
};

const IGNORED = Type.Optional(Type.String({ description: 'Ignored.', examples: ['2026-11-01'] }));

const USAGE: FastifySchema = {
  ...KEYS,
  operationId: 'readBillingUsage',
  summary: "Read the spend of the calling key in OpenAI's old form",
  description: 'For tools that show the balance of an OpenAI or one-api key. Credits stand for dollars.',
  querystring: Type.Object({ start_date: IGNORED, end_date: IGNORED }),
  response: { 200: BillingUsage },
  'x-docs': { refusals: KEY_REFUSALS, answer: BILLING_USAGE_EXAMPLE },
};

/**
 * Routes by which tools read a key and its balance in a form that they know. Like `/api/key/`, they take any usable key and
 * count in no limit. Those below `/v1` ignore unknown parameters, as the services do whose form they have.
 */
export function compatibleRoutes(deps: CompatibleDeps): FastifyPluginAsync {
  const { ledger } = deps;
  return async (app) => {
    speakJson(app);
    spelledFreely(app);
    for (const path of ['/api/v1/key', '/api/v1/auth/key']) {
      const schema = path === '/api/v1/key' ? KEY : { ...KEY, hide: true };
      app.get(path, { schema }, async (request) => {
        const { key } = await callingKey(deps, request);
        refuseUnknownParameters(request);
        return openRouterKey(await spentKey(deps, key));
      });
    }
    app.get('/api/v1/credits', { schema: CREDITS }, async (request) => {
      const { key } = await callingKey(deps, request);
      if (!key.canManage) throw managementNotAllowed();
      refuseUnknownParameters(request);
      await ledger.flush(key.accountId);
      const { balance, windows } = await liveAmounts(ledger, key.accountId);
      return openRouterCredits(balance, windows.totalSpent);
    });
    app.get('/v1/dashboard/billing/subscription', { schema: SUBSCRIPTION }, async (request) => {
      const { key } = await callingKey(deps, request);
      const account = key.canManage ? await ledger.account(key.accountId) : undefined;
      return billingSubscription(await spentKey(deps, key), account?.balance);
    });
    app.get('/v1/dashboard/billing/usage', { schema: USAGE }, async (request) => {
      const { key } = await callingKey(deps, request);
      return billingUsage(await spentKey(deps, key));
    });
  };
}

/** What a key has spent, with all calls so far. */
async function spentKey({ book, ledger }: CompatibleDeps, { id, accountId }: CheckedKey): Promise<SpentKey> {
  await ledger.flush(accountId);
  const key = await book.key(accountId, id);
  if (key === undefined) throw keyNotFound();
  const [windows = NO_WINDOWS] = await ledger.windows(accountId, [id]);
  return { key, windows, now: ledger.now(accountId) };
}
