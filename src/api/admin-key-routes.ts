import type { FastifyInstance, FastifySchema } from 'fastify';
import { parseNewKey } from '../domain/key-settings.ts';
import { type AdminDeps, accountOf } from './admin-account.ts';
import { AccountKeyPath, AccountPath } from './admin-schema.ts';
import { BY_OPERATOR } from './docs/operation.ts';
import { BODY_REFUSALS, OPERATOR_REFUSALS } from './docs/refusals.ts';
import { keyChangeRoutes } from './key-change-routes.ts';
import { CREATED_KEY_EXAMPLE, KEY_EXAMPLE, NEW_KEY_EXAMPLES } from './key-examples.ts';
import { sendKeys } from './key-list.ts';
import { CreatedKey, KeyList, KeyListQuery, NewKeyBody } from './key-schema.ts';
import { createKey, managesOnCreation } from './keys.ts';
import { OPERATOR } from './long-answer.ts';
import { mayWarn, warnOfModels } from './model-warning.ts';

const docs = { tags: ['Operator'], security: BY_OPERATOR };
const PATH = '/api/admin/accounts/:account_id/keys/';

/**
 * The operator's routes for the keys of an account (specification section 7). An owner who reports a leaked key may
 * have no other key left to delete it with.
 */
export function adminKeyRoutes(app: FastifyInstance, deps: AdminDeps): void {
  listRoute(app, deps);
  createRoute(app, deps);
  keyChangeRoutes(app, deps, {
    path: `${PATH}:key_id/`,
    changerOf: async (request) => ({ accountId: (await accountOf(deps.book, request)).id }),
    docs: { ...docs, params: AccountKeyPath },
    refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
    update: {
      operationId: 'updateKeyOfAccount',
      summary: 'Update a key of an account',
      description:
        'Changes the fields that are sent and no others, as the owner can; in force at every gateway once it is answered.',
    },
    remove: {
      operationId: 'deleteKeyOfAccount',
      summary: 'Delete a key of an account',
      description: 'Marks the key inactive: it is refused at every gateway once this is answered.',
    },
    rotate: {
      operationId: 'rotateKeyOfAccount',
      summary: 'Rotate a key of an account',
      description:
        'Gives the key a new value, or ends the previous one, as the owner can. The new value is in this answer only.',
    },
  });
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
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'invalid_field', 'rate_limit_exceeded'],
      answer: { keys: [KEY_EXAMPLE] },
    },
  };
  app.get(PATH, { schema }, async (request, reply) => {
    const { id } = await accountOf(deps.book, request);
    return sendKeys(deps, request, reply, { accountId: id, onlyKeyId: undefined, owner: OPERATOR });
  });
}

function createRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createKeyForAccount',
    summary: 'Create a key for an account',
    description:
      'For an owner who has lost theirs, or to be handed out: it may manage where it has no restriction, unless the request ' +
      'says otherwise.',
    params: AccountPath,
    body: NewKeyBody,
    response: { 201: mayWarn(CreatedKey) },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'too_many_keys', ...BODY_REFUSALS],
      requests: NEW_KEY_EXAMPLES,
      answer: CREATED_KEY_EXAMPLE,
    },
  };
  app.post(PATH, { schema }, async (request, reply) => {
    const { settings, canManage } = parseNewKey(request.body);
    const account = await accountOf(deps.book, request);
    const created = await createKey(deps, account.id, {
      ...settings,
      canManage: managesOnCreation(canManage, settings),
    });
    warnOfModels(reply, deps.catalog(), settings);
    return reply.code(201).send(created);
  });
}
