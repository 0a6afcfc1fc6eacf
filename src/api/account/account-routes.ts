import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { readBody } from '../../domain/shape.ts';
import { type AlertRouteDeps, alertRoutes } from '../alerts/alert-routes.ts';
import { type CallsRouteDeps, callsRoutes } from '../calls/calls-routes.ts';
import { beforeTheBody, managingCaller, managingReader } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseTooOften } from '../http/rates.ts';
import { type LedgerRouteDeps, ledgerRoutes } from '../ledger/ledger-routes.ts';
import { BODY_REFUSALS, BY_KEY, MANAGING_REFUSALS } from '../openapi/operation.ts';
import { usageRoute } from '../usage/usage-routes.ts';
import { ACCOUNT_EXAMPLE, Account, AccountPatch, accountView, liveAmounts } from './account-view.ts';

export type AccountDeps = AlertRouteDeps & LedgerRouteDeps & CallsRouteDeps;

const docs = { tags: ['Account'], security: BY_KEY };

/** The owner's routes for their account, its ledger, usage and alerts (specification section 7). */
export function accountRoutes(deps: AccountDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    readRoute(app, deps);
    updateRoute(app, deps);
    ledgerRoutes(app, deps);
    callsRoutes(app, deps);
    usageRoute(app, deps);
    alertRoutes(app, deps);
  };
}

function readRoute(app: FastifyInstance, { book, ledger, gatekeeper }: AccountDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readAccount',
    summary: 'Read the account',
    description:
      'Returns the balance, the credits held by calls in flight, and the threshold. Only for a key that can manage.',
    response: { 200: Account },
    'x-docs': { refusals: MANAGING_REFUSALS, answer: ACCOUNT_EXAMPLE },
  };
  app.get('/api/account/', { schema }, async (request) => {
    const { accountId, isPrevious } = await managingReader(gatekeeper, request);
    const [account, live] = await Promise.all([book.account(accountId), liveAmounts(ledger, accountId)]);
    const { webhook_secret, ...view } = accountView(existing(account), live);
    return isPrevious ? view : { ...view, webhook_secret };
  });
}

function updateRoute(app: FastifyInstance, deps: AccountDeps): void {
  const { book, ledger, gatekeeper } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateAccount',
    summary: 'Set the alert threshold',
    description:
      'Only a debit sends an alert; a changed threshold alone never does. An account can change it 10 times an hour.',
    body: AccountPatch.schema,
    response: { 200: Account },
    'x-docs': {
      refusals: [...MANAGING_REFUSALS, 'rate_limit_exceeded', ...BODY_REFUSALS],
      requests: { threshold: { value: { alert_threshold: 100 } } },
      answer: ACCOUNT_EXAMPLE,
    },
  };
  app.patch('/api/account/', { schema, onRequest: beforeTheBody(deps) }, async (request) => {
    const caller = await managingCaller(gatekeeper, request);
    const change = readBody(AccountPatch, request.body);
    const account = existing(
      await book.updateAccount(caller.accountId, change, Date.now(), true).catch(refuseTooOften),
    );
    await ledger.publishAccount(account);
    return accountView(account, await liveAmounts(ledger, account.id));
  });
}

/** Throws `account_not_found`; never for a key's own account, because accounts are never removed. */
function existing(account: AccountRecord | undefined): AccountRecord {
  if (account === undefined) throw new GatewayError('account_not_found', 'This account does not exist.');
  return account;
}
