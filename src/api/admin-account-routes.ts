import type { FastifyInstance } from 'fastify';
import { invalidField } from '../domain/errors.ts';
import { accountIdOf, accountNotFound, accountOf, adminAccountView, uniqueEmail } from './admin-account.ts';
import type { AdminDeps } from './admin-routes.ts';
import {
  AccountPath,
  AdminAccount,
  AdminAccountPage,
  AdminAccountPatch,
  AdminAccountQuery,
} from './admin-schema.ts';
import { emailField } from './email-field.ts';
import { ERROR_ANSWERS } from './error-schema.ts';
import { objectBody, positiveCreditsField } from './object-body.ts';
import { cursorParam, integerParam, queryOf } from './query.ts';

const DEFAULT_LIMIT = 100;
const docs = { tags: ['Operator'], security: [{ adminToken: [] }] };

/** List, read and update accounts. Balances are the live ones, to the last settled call. */
export function adminAccountRoutes(app: FastifyInstance, deps: AdminDeps): void {
  listRoute(app, deps);
  readRoute(app, deps);
  updateRoute(app, deps);
}

function listRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema = {
    ...docs,
    summary: 'List accounts',
    querystring: AdminAccountQuery,
    response: { 200: AdminAccountPage, ...ERROR_ANSWERS },
  };
  app.get('/api/admin/accounts/', { schema }, async (request) => {
    const query = queryOf(request);
    const limit = integerParam(query, 'limit', { min: 1, max: 1_000 }) ?? DEFAULT_LIMIT;
    const found = await book.accounts(cursorParam(query, 'after') ?? 0, limit + 1);
    const page = found.slice(0, limit);
    const accounts = await Promise.all(
      page.map(async (account) => adminAccountView(account, await ledger.account(account.id))),
    );
    const last = found.length > limit ? page.at(-1) : undefined;
    return { accounts, next: last === undefined ? null : String(last.id) };
  });
}

function readRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema = {
    ...docs,
    summary: 'Read an account',
    params: AccountPath,
    response: { 200: AdminAccount, ...ERROR_ANSWERS },
  };
  app.get('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const account = await accountOf(book, request);
    return adminAccountView(account, await ledger.account(account.id));
  });
}

function updateRoute(app: FastifyInstance, { book, ledger, now = Date.now }: AdminDeps): void {
  const schema = {
    ...docs,
    summary: 'Update an account',
    description: 'is_active false refuses every key of the account at every gateway once answered.',
    params: AccountPath,
    body: AdminAccountPatch,
    response: { 200: AdminAccount, ...ERROR_ANSWERS },
  };
  app.patch('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const change = parseChange(request.body);
    const account = await uniqueEmail(book.updateAccount(accountIdOf(request), change, now()));
    if (account === undefined) throw accountNotFound();
    await ledger.publishAccount(account);
    return adminAccountView(account, await ledger.account(account.id));
  });
}

function parseChange(body: unknown) {
  const { email, alert_threshold, is_active } = objectBody(body, ['email', 'alert_threshold', 'is_active']);
  if (is_active !== undefined && typeof is_active !== 'boolean') {
    throw invalidField('is_active', 'is_active must be true or false.');
  }
  return {
    ...(email === undefined ? {} : { email: emailField(email) }),
    ...(alert_threshold === undefined
      ? {}
      : { alertThreshold: positiveCreditsField('alert_threshold', alert_threshold) }),
    ...(is_active === undefined ? {} : { isActive: is_active }),
  };
}
