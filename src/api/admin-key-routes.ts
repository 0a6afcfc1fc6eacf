import type { FastifyInstance, FastifySchema } from 'fastify';
import { parseNewKey } from '../domain/key-settings.ts';
import { accountOf } from './admin-account.ts';
import type { AdminDeps } from './admin-routes.ts';
import { AccountKeyPath, AccountPath } from './admin-schema.ts';
import { changeKey } from './change-key.ts';
import { createKey } from './create-key.ts';
import { BY_OPERATOR } from './docs/operation.ts';
import { BODY_REFUSALS, OPERATOR_REFUSALS } from './docs/refusals.ts';
import { CREATED_KEY_EXAMPLE, KEY_EXAMPLE, NEW_KEY_EXAMPLES } from './key-examples.ts';
import { sendKeys } from './key-list.ts';
import { keyIdOf } from './key-path.ts';
import { CreatedKey, DeletedKey, KeyList, KeyListQuery, NewKeyBody } from './key-schema.ts';

const docs = { tags: ['Operator'], security: BY_OPERATOR };
const PATH = '/api/admin/accounts/:account_id/keys/';

/**
 * The keys of an account, for its operator. The contract names the creation alone; to list and to revoke are what an
 * operator needs when an owner reports a leaked key and cannot act.
 */
export function adminKeyRoutes(app: FastifyInstance, deps: AdminDeps): void {
  listRoute(app, deps);
  createRoute(app, deps);
  deleteRoute(app, deps);
}

function listRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listKeysOfAccount',
    summary: 'List the keys of an account',
    params: AccountPath,
    querystring: KeyListQuery,
    response: { 200: KeyList },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'invalid_field'],
      answer: { keys: [KEY_EXAMPLE] },
    },
  };
  app.get(PATH, { schema }, async (request, reply) => {
    const { id } = await accountOf(deps.book, request);
    return sendKeys(deps, request, reply, id);
  });
}

/** A key for an owner who has lost theirs, so it may manage, restricted or not, unless the request says otherwise. */
function createRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createKeyForAccount',
    summary: 'Create a key for an account',
    description:
      'For an owner who has lost theirs: it may manage, restricted or not, unless the request says otherwise.',
    params: AccountPath,
    body: NewKeyBody,
    response: { 201: CreatedKey },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'too_many_keys', ...BODY_REFUSALS],
      requests: NEW_KEY_EXAMPLES,
      answer: CREATED_KEY_EXAMPLE,
    },
  };
  app.post(PATH, { schema }, async (request, reply) => {
    const { settings, canManage = true } = parseNewKey(request.body);
    const account = await accountOf(deps.book, request);
    return reply.code(201).send(await createKey(deps, account.id, { ...settings, canManage }));
  });
}

function deleteRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'deleteKeyOfAccount',
    summary: 'Delete a key of an account',
    description: 'Marks the key inactive: it is refused at every gateway once this is answered.',
    params: AccountKeyPath,
    response: { 200: DeletedKey },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'key_not_found'],
      answer: { deleted: true },
    },
  };
  app.delete(`${PATH}:key_id/`, { schema }, async (request) => {
    const { id } = await accountOf(deps.book, request);
    await changeKey(deps, id, keyIdOf(request), { isActive: false });
    return { deleted: true };
  });
}
