import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { EmailTaken } from '../../book/accounts.ts';
import type { Book } from '../../book/book.ts';
import type { Catalog } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { readBody, readQuery } from '../../domain/shape.ts';
import type { LinkParts } from '../../people/links.ts';
import type { Mailer } from '../../people/mail.ts';
import {
  type AccountPageView,
  AccountPath,
  AccountsQuery,
  ADMIN_ACCOUNT_EXAMPLE,
  AdminAccount,
  AdminAccountPage,
  AdminAccountPatch,
  liveAmounts,
  operatorAccountView,
} from '../account/account-view.ts';
import { operatorOf } from '../http/callers.ts';
import type { KeyCommandDeps } from '../keys/keys.ts';
import { pathId } from '../openapi/fields.ts';
import { BODY_REFUSALS, BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import type { ProvidersDeps } from './admin-models-routes.ts';

/** Collaborators of the operator's routes. */
export interface AdminDeps extends KeyCommandDeps, ProvidersDeps {
  readonly links: LinkParts;
  readonly mailer: Mailer;
  readonly catalog: () => Catalog;
}

export function accountNotFound(): GatewayError {
  return new GatewayError('account_not_found', 'No account has this id.');
}

/** The `account_id` of the path. Throws `account_not_found` for anything that cannot be an id. */
function accountIdOf(request: FastifyRequest): number {
  const accountId = pathId((request.params as { account_id: string }).account_id);
  if (accountId === undefined) throw accountNotFound();
  return accountId;
}

/** Reads the account in the path. Throws `account_not_found`. */
export async function accountOf(book: Book, request: FastifyRequest): Promise<AccountRecord> {
  const account = await book.account(accountIdOf(request));
  if (account === undefined) throw accountNotFound();
  return account;
}

/** Turns EmailTaken into 409 `email_taken`. */
export async function uniqueEmail<Result>(written: Promise<Result>): Promise<Result> {
  try {
    return await written;
  } catch (error) {
    if (!(error instanceof EmailTaken)) throw error;
    throw new GatewayError('email_taken', 'Another account already has this email address.', 'email');
  }
}

const docs = { tags: ['Operator'], security: BY_OPERATOR };

/** Routes that list, show and change accounts. Balances come from Redis and include every settled call. */
export function adminAccountRoutes(app: FastifyInstance, deps: AdminDeps): void {
  listRoute(app, deps);
  readRoute(app, deps);
  updateRoute(app, deps);
}

function listRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listAccounts',
    summary: 'List accounts',
    description: 'Returns accounts by ascending id, with their current balances.',
    querystring: AccountsQuery.schema,
    response: { 200: AdminAccountPage },
    'x-docs': {
      refusals: OPERATOR_REFUSALS,
      answer: { accounts: [ADMIN_ACCOUNT_EXAMPLE], next: null },
    },
  };
  app.get('/api/admin/accounts/', { schema }, async (request): Promise<AccountPageView> => {
    const { limit, after = 0, email } = readQuery(AccountsQuery, request.query);
    const found = await book.accounts(after, limit + 1, email);
    const page = found.slice(0, limit);
    const accounts = await Promise.all(
      page.map(async (account) => operatorAccountView(account, await liveAmounts(ledger, account.id))),
    );
    const last = found.length > limit ? page.at(-1) : undefined;
    return { accounts, next: last === undefined ? null : String(last.id) };
  });
}

function readRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readAccountById',
    summary: 'Read an account',
    params: AccountPath,
    response: { 200: AdminAccount },
    'x-docs': { refusals: [...OPERATOR_REFUSALS, 'account_not_found'], answer: ADMIN_ACCOUNT_EXAMPLE },
  };
  app.get('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const account = await accountOf(book, request);
    return operatorAccountView(account, await liveAmounts(ledger, account.id));
  });
}

function updateRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateAccountById',
    summary: 'Update an account',
    description: 'Changes only the fields you send. Takes effect at every gateway before you get the answer.',
    params: AccountPath,
    body: AdminAccountPatch.schema,
    response: { 200: AdminAccount },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'email_taken', ...BODY_REFUSALS],
      requests: {
        close: { summary: 'Refuse all keys of the account', value: { is_active: false } },
        open: { summary: 'Accept them again', value: { is_active: true, alert_threshold: 50 } },
        overdraft: { summary: 'Let holds exceed the balance', value: { overdraft: 5 } },
        limits: { summary: 'Limit the calls', value: { rpm_limit: 600, tpm_limit: null } },
      },
      answer: ADMIN_ACCOUNT_EXAMPLE,
    },
  };
  app.patch('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const change = readBody(AdminAccountPatch, request.body);
    const account = await uniqueEmail(
      book.updateAccount(accountIdOf(request), change, Date.now(), false, operatorOf(request)),
    );
    if (account === undefined) throw accountNotFound();
    await ledger.publishAccount(account);
    return operatorAccountView(account, await liveAmounts(ledger, account.id));
  });
}
