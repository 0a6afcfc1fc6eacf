import type { FastifyInstance, FastifySchema } from 'fastify';
import { AccountPath } from '../account/account-view.ts';
import { operatorOf } from '../http/callers.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { Deleted } from '../people/member-view.ts';
import { publishKeys } from '../people/people-routes.ts';
import { type AdminDeps, accountIdOf, accountNotFound } from './admin-account-routes.ts';

/** `DELETE /api/admin/accounts/<id>/`: erases an account. */
export function eraseAccountRoute(app: FastifyInstance, { book, ledger }: AdminDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'eraseAccountById',
    summary: 'Erase an account',
    description:
      'Deactivates the account and its keys, ends memberships, and removes e-mail address, names, descriptions, notes, webhook ' +
      'and IP addresses, user agents, error messages and refused calls, in the audit log too. Amounts, sums and ids stay. It ' +
      'cannot be undone. Calls still in flight bring their user agents afterwards: repeat it once they have ended.',
    params: AccountPath,
    response: { 200: Deleted },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
      answer: { deleted: true },
    },
  };
  app.delete('/api/admin/accounts/:account_id/', { schema }, async (request) => {
    const accountId = accountIdOf(request);
    const erased = await book.eraseAccount(accountId, operatorOf(request), Date.now());
    if (!erased) throw accountNotFound();
    await ledger.publishAccount(erased.account);
    await publishKeys(ledger, erased.keys);
    await book.eraseTextsOfCalls(accountId);
    return { deleted: true };
  });
}
