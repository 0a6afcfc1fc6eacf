import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { type Grant, IdempotencyKeyReused } from '../../book/grants.ts';
import type { Actor } from '../../domain/actor.ts';
import { creditsNumber, MAX_BALANCE, MAX_CREDITS, type Micro } from '../../domain/credits.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { readBody } from '../../domain/shape.ts';
import { BalanceBeyondBound, type Ledger, LedgerUnavailable } from '../../ledger/ledger.ts';
import {
  AccountPath,
  Credits,
  CreditsAnswer,
  CreditsHeaders,
  LONGEST_IDEMPOTENCY_KEY,
} from '../account/account-view.ts';
import { operatorOf } from '../http/callers.ts';
import { BODY_REFUSALS, BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { type AdminDeps, accountOf } from './admin-account-routes.ts';

/**
 * `POST /api/admin/accounts/<id>/credits/`: a top-up or an adjustment (a "grant"). The book records it before Redis
 * applies it under the same id, so that no crash loses it and no repeat applies it twice.
 */
export function adminCreditsRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'changeCredits',
    summary: 'Change the balance',
    description:
      'Adds a top-up, or an adjustment if the amount is negative, to the ledger. Like a charge, an adjustment can trigger the ' +
      'low-credits alert. After a 503, the change may be recorded but not yet applied: repeat it only with the same ' +
      '`Idempotency-Key`.',
    params: AccountPath,
    headers: CreditsHeaders,
    body: Credits.schema,
    response: { 200: CreditsAnswer },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'idempotency_key_reused', ...BODY_REFUSALS],
      requests: {
        top_up: { summary: 'A top-up', value: { amount: 100, note: 'Invoice 1001' } },
        adjustment: { summary: 'An adjustment', value: { amount: -0.5, note: 'Correction' } },
      },
      answer: { credits_balance: 349.5 },
    },
  };
  app.post('/api/admin/accounts/:account_id/credits/', { schema }, async (request) => {
    const idempotencyKey = idempotencyKeyOf(request);
    const { amount, note } = readBody(Credits, request.body);
    const account = await accountOf(book, request);
    const type = amount > 0 ? 'top_up' : 'adjustment';
    const wanted = {
      id: randomUUID(),
      accountId: account.id,
      amount,
      type,
      note,
      createdAt: Date.now(),
    } as const;
    const grant = await recorded(book, wanted, { idempotencyKey, by: operatorOf(request) }, () =>
      requireRoom(ledger, account.id, amount),
    );
    const balance = grant.balanceAfter ?? (await appliedInOrder(book, ledger, grant));
    return { credits_balance: creditsNumber(balance) };
  });
}

/**
 * Throws if the change would push the balance beyond ±MAX_CREDITS, where it would not be exact. Redis has the final
 * say, because concurrent changes may each fit alone; this check keeps changes that already don't fit out of the book.
 */
async function requireRoom(ledger: Ledger, accountId: number, amount: Micro): Promise<void> {
  const { balance } = await ledger.account(accountId);
  if (Math.abs(balance + amount) <= MAX_BALANCE) return;
  throw noRoom();
}

function noRoom(): GatewayError {
  return invalidField('amount', `amount would take the balance beyond ${MAX_CREDITS} credits.`);
}

/**
 * Records a grant in the book. A repeat with the same idempotency key gets the recorded grant without calling
 * `allowed`, because the account may be full by now. Throws 409 `idempotency_key_reused`.
 */
async function recorded(
  book: Book,
  grant: Omit<Grant, 'balanceAfter'>,
  { idempotencyKey, by }: { readonly idempotencyKey: string | null; readonly by: Actor },
  allowed: () => Promise<void>,
): Promise<Grant> {
  try {
    const repeated = idempotencyKey === null ? undefined : await book.grantUnder(grant, idempotencyKey);
    if (repeated) return repeated;
    await allowed();
    return (await book.createGrant(grant, idempotencyKey, by)).grant;
  } catch (error) {
    if (!(error instanceof IdempotencyKeyReused)) throw error;
    throw new GatewayError(
      'idempotency_key_reused',
      'This Idempotency-Key was already used with another amount or note. Use a new one for a new change.',
      'Idempotency-Key',
    );
  }
}

/**
 * Applies a grant in Redis, after the account's earlier grants recorded while Redis was unreachable, so that initial
 * credits are the first row of the ledger. Resolves with the new balance.
 */
async function appliedInOrder(book: Book, ledger: Ledger, grant: Grant): Promise<Micro> {
  for (const earlier of await book.grantsBefore(grant)) await applied(book, ledger, earlier);
  const balance = await applied(book, ledger, grant);
  if (balance === undefined) throw noRoom();
  return balance;
}

/**
 * Applies one grant in Redis. Resolves with the new balance. If the grant doesn't fit, withdraws its record and
 * resolves with undefined.
 */
async function applied(book: Book, ledger: Ledger, grant: Grant): Promise<Micro | undefined> {
  try {
    return await ledger.grant(grant);
  } catch (error) {
    if (error instanceof BalanceBeyondBound) {
      await book.withdrawGrant(grant.id);
      return undefined;
    }
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw new GatewayError(
      'service_unavailable',
      'The change is recorded and will be applied soon. If you repeat it, use the same Idempotency-Key.',
    );
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const value = request.headers['idempotency-key'];
  if (value === undefined) return null;
  if (typeof value === 'string' && value.length > 0 && value.length <= LONGEST_IDEMPOTENCY_KEY) return value;
  throw invalidField(
    'Idempotency-Key',
    `Idempotency-Key must have 1 to ${LONGEST_IDEMPOTENCY_KEY} characters.`,
  );
}
