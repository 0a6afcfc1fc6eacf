import type { FastifyInstance } from 'fastify';
import { parseNewKey } from '../domain/key-settings.ts';
import { accountOf } from './admin-account.ts';
import type { AdminDeps } from './admin-routes.ts';
import { AccountPath } from './admin-schema.ts';
import { createKey } from './create-key.ts';
import { ERROR_ANSWERS } from './error-schema.ts';
import { CreatedKey, NewKeyBody } from './key-schema.ts';

/**
 * `POST /api/admin/accounts/<id>/keys/`: a key for an owner who has lost theirs, so it may manage, restricted or not,
 * unless the request says otherwise.
 */
export function adminKeyRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema = {
    tags: ['Operator'],
    security: [{ adminToken: [] }],
    summary: 'Create a key for an account',
    params: AccountPath,
    body: NewKeyBody,
    response: { 201: CreatedKey, ...ERROR_ANSWERS },
  };
  app.post('/api/admin/accounts/:account_id/keys/', { schema }, async (request, reply) => {
    const { settings, canManage = true } = parseNewKey(request.body);
    const account = await accountOf(deps.book, request);
    return reply.code(201).send(await createKey(deps, account.id, { ...settings, canManage }));
  });
}
