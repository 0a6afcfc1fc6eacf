import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { reachOf } from '../../domain/roles.ts';
import { readBody } from '../../domain/shape.ts';
import { type AlertRouteDeps, alertRoutes } from '../alerts/alert-routes.ts';
import { attentionRoute } from '../attention/attention-routes.ts';
import { type CallsRouteDeps, callsRoutes } from '../calls/calls-routes.ts';
import { type AccountCaller, beforeTheBody, callerOf, notPermitted } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseTooOften } from '../http/rates.ts';
import { type LedgerRouteDeps, ledgerRoutes } from '../ledger/ledger-routes.ts';
import { limitsRoute } from '../limits/limits-routes.ts';
import { BODY_REFUSALS, BY_ACCOUNT, MANAGING_REFUSALS } from '../openapi/operation.ts';
import { usageRoute } from '../usage/usage-routes.ts';
import {
  ACCOUNT_EXAMPLE,
  Account,
  AccountPatch,
  type AccountView,
  accountView,
  liveAmounts,
} from './account-view.ts';

export type AccountDeps = AlertRouteDeps & LedgerRouteDeps & CallsRouteDeps;

const docs = { tags: ['Account'], security: BY_ACCOUNT };

/** The owner's routes for their account, its ledger, usage and alerts (specification section 7). */
export function accountRoutes(deps: AccountDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    readRoute(app, deps);
    updateRoute(app, deps);
    attentionRoute(app, deps);
    ledgerRoutes(app, deps);
    callsRoutes(app, deps);
    usageRoute(app, deps);
    limitsRoute(app, deps);
    alertRoutes(app, deps);
  };
}

function readRoute(app: FastifyInstance, deps: AccountDeps): void {
  const { book, ledger } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readAccount',
    summary: 'Read the account',
    description:
      'Returns the balance, the credits held by calls in flight, and the threshold. Only for a key that can manage.',
    response: { 200: Account },
    'x-docs': { may: ['read the account'], refusals: MANAGING_REFUSALS, answer: ACCOUNT_EXAMPLE },
  };
  app.get('/api/account/', { schema }, async (request) => {
    const caller = await callerOf(deps, request, 'read the account');
    const { accountId } = caller;
    const [account, live] = await Promise.all([book.account(accountId), liveAmounts(ledger, accountId)]);
    return seenBy(caller, accountView(existing(account), live));
  });
}

/** The view without the webhook secret, if the caller may not read it. */
function seenBy({ isPrevious, member }: AccountCaller, { webhook_secret, ...view }: AccountView) {
  const isSecret = isPrevious || (member && !reachOf(member.role, 'read the webhook secret'));
  return isSecret ? view : { ...view, webhook_secret };
}

function updateRoute(app: FastifyInstance, deps: AccountDeps): void {
  const { book, ledger } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateAccount',
    summary: 'Set the name or the alert threshold',
    description:
      'Only a debit sends an alert; a changed threshold alone never does. An account can change it 10 times an hour.',
    body: AccountPatch.schema,
    response: { 200: Account },
    'x-docs': {
      may: ['change the threshold', 'rename the account'],
      refusals: [...MANAGING_REFUSALS, 'rate_limit_exceeded', ...BODY_REFUSALS],
      requests: {
        threshold: { value: { alert_threshold: 100 } },
        name: { value: { name: 'Example Inc.' } },
      },
      answer: ACCOUNT_EXAMPLE,
    },
  };
  const onRequest = beforeTheBody(deps, 'change the threshold');
  app.patch('/api/account/', { schema, onRequest }, async (request) => {
    const caller = await callerOf(deps, request, 'change the threshold');
    const { accountId, actor, member } = caller;
    const change = readBody(AccountPatch, request.body);
    if (change.name !== undefined && member && !reachOf(member.role, 'rename the account')) {
      throw notPermitted(member, 'rename the account');
    }
    const account = existing(
      await book.updateAccount(accountId, change, Date.now(), true, actor).catch(refuseTooOften),
    );
    await ledger.publishAccount(account);
    return seenBy(caller, accountView(account, await liveAmounts(ledger, account.id)));
  });
}

/** Throws `account_not_found`; never for a key's own account, because accounts are never removed. */
function existing(account: AccountRecord | undefined): AccountRecord {
  if (account === undefined) throw new GatewayError('account_not_found', 'This account does not exist.');
  return account;
}
