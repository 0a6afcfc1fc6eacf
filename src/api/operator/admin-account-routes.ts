import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { isErased } from '../../book/account-erasure.ts';
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
  LISTED_ACCOUNT_EXAMPLE,
  ListedAccount,
  liveAmounts,
  operatorAccountView,
} from '../account/account-view.ts';
import { listedAccountView, sortedPage } from '../account/listed-accounts.ts';
import type { OperatorAttentionDeps } from '../attention/attention-routes.ts';
import { operatorOf } from '../http/callers.ts';
import type { KeyCommandDeps } from '../keys/keys.ts';
import { pathId } from '../openapi/fields.ts';
import { BODY_REFUSALS, BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';

/** Collaborators of the operator's routes. */
export interface AdminDeps extends KeyCommandDeps, OperatorAttentionDeps {
  readonly links: LinkParts;
  readonly mailer: Mailer;
  readonly catalog: () => Catalog;
}

export function accountNotFound(): GatewayError {
  return new GatewayError('account_not_found', 'No account has this id.');
}

/** The `account_id` of the path. Throws `account_not_found` for anything that cannot be an id. */
export function accountIdOf(request: FastifyRequest): number {
  const accountId = pathId((request.params as { account_id: string }).account_id);
  if (accountId === undefined) throw accountNotFound();
  return accountId;
}

/** Reads the account in the path. Throws `account_not_found`, for a change also if the account was erased. */
export async function accountOf(book: Book, request: FastifyRequest): Promise<AccountRecord> {
  const account = await book.account(accountIdOf(request));
  if (account === undefined) throw accountNotFound();
  if (request.method !== 'GET' && isErased(account)) {
    throw new GatewayError('account_not_found', 'This account was erased: it can only be read.');
  }
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
    description:
      'Returns accounts with their current balances and what they did lately. A list by anything but the id reads the sums of ' +
      'all accounts; a list by balance is in the order of the database, which is a moment behind.',
    querystring: AccountsQuery.schema,
    response: { 200: AdminAccountPage },
    'x-docs': {
      refusals: OPERATOR_REFUSALS,
      answer: { accounts: [LISTED_ACCOUNT_EXAMPLE], next: null },
    },
  };
  app.get('/api/admin/accounts/', { schema }, async (request): Promise<AccountPageView> => {
    const { limit, after, email, sort } = readQuery(AccountsQuery, request.query);
    const now = Date.now();
    const { ids, next } =
      sort === 'id'
        ? await pageById(book, after?.id ?? 0, limit, email)
        : await sortedPage(book.allAccountSums(now, email), sort, after, limit, now);
    const records = new Map((await book.accountsAmong(ids)).map((account) => [account.id, account]));
    const sums = new Map((await book.accountSums(ids, now)).map((row) => [row.id, row]));
    const views = ids.map(async (id) => {
      const [account, use] = [records.get(id), sums.get(id)];
      return account && use ? [listedAccountView(account, await liveAmounts(ledger, id), use, now)] : [];
    });
    return { accounts: (await Promise.all(views)).flat(), next };
  });
}

async function pageById(book: Book, after: number, limit: number, email: string | undefined) {
  const found = (await book.accounts(after, limit + 1, email)).map(({ id }) => id);
  const ids = found.slice(0, limit);
  return { ids, next: found.length > limit ? String(ids.at(-1)) : null };
}

function readRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readAccountById',
    summary: 'Read an account',
    params: AccountPath,
    response: { 200: ListedAccount },
    'x-docs': { refusals: [...OPERATOR_REFUSALS, 'account_not_found'], answer: LISTED_ACCOUNT_EXAMPLE },
  };
  app.get('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const account = await accountOf(book, request);
    const now = Date.now();
    const [sums] = await book.accountSums([account.id], now);
    if (sums === undefined) throw accountNotFound();
    return listedAccountView(account, await liveAmounts(ledger, account.id), sums, now);
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
    const { id } = await accountOf(book, request);
    const account = await uniqueEmail(book.updateAccount(id, change, Date.now(), false, operatorOf(request)));
    if (account === undefined) throw accountNotFound();
    await ledger.publishAccount(account);
    return operatorAccountView(account, await liveAmounts(ledger, account.id));
  });
}
