import type { FastifyRequest } from 'fastify';
import { type Book, EmailTaken } from '../../book/book.ts';
import type { Catalog } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { pathId } from '../http/query.ts';
import type { KeyCommandDeps } from '../keys/keys.ts';
import type { ProvidersDeps } from './admin-providers-route.ts';

/** Collaborators of the operator's routes. */
export interface AdminDeps extends KeyCommandDeps, ProvidersDeps {
  readonly catalog: () => Catalog;
}

/** The 404 of an account that does not exist. */
export function accountNotFound(): GatewayError {
  return new GatewayError('account_not_found', 'No account has this id.');
}

/** The `account_id` of the path. Throws `account_not_found` for anything that cannot be an id. */
export function accountIdOf(request: FastifyRequest): number {
  const accountId = pathId((request.params as { account_id: string }).account_id);
  if (accountId === undefined) throw accountNotFound();
  return accountId;
}

/** The account that the path names. Throws `account_not_found`. */
export async function accountOf(book: Book, request: FastifyRequest): Promise<AccountRecord> {
  const account = await book.account(accountIdOf(request));
  if (account === undefined) throw accountNotFound();
  return account;
}

/** Resolves with the result of the book; rejects with 409 `email_taken` for EmailTaken. */
export async function uniqueEmail<Result>(written: Promise<Result>): Promise<Result> {
  try {
    return await written;
  } catch (error) {
    if (!(error instanceof EmailTaken)) throw error;
    throw new GatewayError('email_taken', 'Another account already has this email address.', 'email');
  }
}
