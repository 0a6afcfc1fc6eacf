import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import type { Book } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import type { Catalog } from '../domain/catalog.ts';
import { parseKeyPatch, parseNewKey } from '../domain/key-settings.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { changeKey } from './change-key.ts';
import { createKey } from './create-key.ts';
import { BY_KEY } from './docs/operation.ts';
import { BODY_REFUSALS, MANAGING_REFUSALS, OWNER_REFUSALS } from './docs/refusals.ts';
import { ifMatch } from './if-match.ts';
import { speakJson } from './json-routes.ts';
import { CREATED_KEY_EXAMPLE, KEY_EXAMPLE, KEY_PATCH_EXAMPLES, NEW_KEY_EXAMPLES } from './key-examples.ts';
import { sendKeys } from './key-list.ts';
import { keyIdOf } from './key-path.ts';
import {
  CreatedKey,
  DeletedKey,
  Key,
  KeyChangeHeaders,
  KeyList,
  KeyListQuery,
  KeyPatch,
  KeyPath,
  NewKeyBody,
} from './key-schema.ts';
import { keyViews } from './key-views.ts';
import {
  beforeTheBody,
  callingKey,
  managesAfterPatch,
  managesOnCreation,
  managingCaller,
} from './may-manage.ts';
import { mayWarn, warnOfModels } from './model-warning.ts';
import { ownKeyRoute } from './own-key-route.ts';

export interface KeysDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly gatekeeper: Gatekeeper;
  readonly config: Config;
  readonly catalog: () => Catalog;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

const docs = { tags: ['Keys'], security: BY_KEY };

/**
 * Routes that list, create, update and delete keys (specification section 2). Who calls is judged before what was
 * sent, so a key that may not manage learns nothing about which ids or values would be right.
 */
export function keysRoutes(deps: KeysDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    listRoute(app, deps);
    ownKeyRoute(app, deps);
    createRoute(app, deps);
    updateRoute(app, deps);
    deleteRoute(app, deps);
  };
}

function listRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listKeys',
    summary: 'List keys',
    description:
      'All keys of the account of the calling key, inactive ones included. A key that cannot manage sees itself only.',
    querystring: KeyListQuery,
    response: { 200: KeyList },
    'x-docs': { refusals: OWNER_REFUSALS, answer: { keys: [KEY_EXAMPLE] } },
  };
  app.get('/api/keys/', { schema }, async (request, reply) => {
    const { id, accountId, canManage } = await callingKey(deps.gatekeeper, request);
    // A key that cannot manage sees itself only (specification section 2, "What a key sees").
    return sendKeys(deps, request, reply, accountId, canManage ? undefined : id);
  });
}

function createRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createKey',
    summary: 'Create a key',
    description: 'The value of the key is in this answer only.',
    body: NewKeyBody,
    response: { 201: mayWarn(CreatedKey) },
    'x-docs': {
      refusals: [...MANAGING_REFUSALS, ...BODY_REFUSALS, 'too_many_keys'],
      requests: NEW_KEY_EXAMPLES,
      answer: CREATED_KEY_EXAMPLE,
    },
  };
  app.post('/api/keys/', { schema, onRequest: beforeTheBody(deps.gatekeeper) }, async (request, reply) => {
    const caller = await managingCaller(deps.gatekeeper, request);
    const { settings, canManage } = parseNewKey(request.body);
    const created = await createKey(deps, caller.accountId, {
      ...settings,
      canManage: managesOnCreation(canManage, settings),
    });
    warnOfModels(reply, deps.catalog(), settings);
    return reply.code(201).send(created);
  });
}

function updateRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateKey',
    summary: 'Update a key',
    description:
      'Changes the fields that are sent and no others; in force at every gateway once it is answered.',
    params: KeyPath,
    headers: KeyChangeHeaders,
    body: KeyPatch,
    response: { 200: mayWarn(Key) },
    'x-docs': {
      refusals: [...MANAGING_REFUSALS, 'key_not_found', 'version_conflict', ...BODY_REFUSALS],
      requests: KEY_PATCH_EXAMPLES,
      answer: KEY_EXAMPLE,
    },
  };
  app.patch(
    '/api/keys/:key_id/',
    { schema, onRequest: beforeTheBody(deps.gatekeeper) },
    async (request, reply) => {
      const caller = await managingCaller(deps.gatekeeper, request);
      const keyId = keyIdOf(request);
      const change = parseKeyPatch(request.body);
      const canManage = managesAfterPatch(change, { isOwn: caller.id === keyId });
      const key = await changeKey(deps, {
        accountId: caller.accountId,
        keyId,
        settings: { ...change, ...canManage },
        ifVersion: ifMatch(request),
      });
      const [view] = await keyViews(deps.ledger, key.accountId, [key]);
      warnOfModels(reply, deps.catalog(), change);
      return view;
    },
  );
}

function deleteRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'deleteKey',
    summary: 'Delete a key',
    description:
      'Marks the key inactive: it is refused at every gateway once this is answered. Its ledger entries stay.',
    params: KeyPath,
    headers: KeyChangeHeaders,
    response: { 200: DeletedKey },
    'x-docs': {
      refusals: [...MANAGING_REFUSALS, 'key_not_found', 'version_conflict'],
      answer: { deleted: true },
    },
  };
  app.delete('/api/keys/:key_id/', { schema, onRequest: beforeTheBody(deps.gatekeeper) }, async (request) => {
    const caller = await managingCaller(deps.gatekeeper, request);
    await changeKey(deps, {
      accountId: caller.accountId,
      keyId: keyIdOf(request),
      settings: { isActive: false },
      ifVersion: ifMatch(request),
    });
    return { deleted: true };
  });
}
