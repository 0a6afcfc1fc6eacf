import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import { creditsNumber, micro } from '../domain/credits.ts';
import { parseKeyPatch, parseNewKey } from '../domain/key-settings.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import { beforeTheBody, callingKey, managingCaller } from './callers.ts';
import { BY_KEY } from './docs/operation.ts';
import { BODY_REFUSALS, MANAGING_REFUSALS, OWNER_REFUSALS } from './docs/refusals.ts';
import { speakJson } from './json-routes.ts';
import {
  CREATED_KEY_EXAMPLE,
  KEY_EXAMPLE,
  KEY_PATCH_EXAMPLES,
  NEW_KEY_EXAMPLES,
  OWN_KEY_EXAMPLE,
} from './key-examples.ts';
import { keyViews, sendKeys } from './key-list.ts';
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
  OwnKey,
} from './key-schema.ts';
import {
  changeKey,
  createKey,
  ifMatch,
  type KeyCommandDeps,
  keyIdOf,
  keyNotFound,
  managesAfterPatch,
  managesOnCreation,
} from './keys.ts';
import { mayWarn, warnOfModels } from './model-warning.ts';
import { ownKeyView } from './views/key-view.ts';

export interface KeysDeps extends KeyCommandDeps {
  readonly gatekeeper: Gatekeeper;
  readonly catalog: () => Catalog;
}

const docs = { tags: ['Keys'], security: BY_KEY };

/**
 * The owner's routes for keys (specification section 2). The caller is authorised before path and body are checked, so
 * that a key that may not manage learns nothing about which ids or values would be right.
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

/** Route `GET /api/key/`: the calling key, with what it may still spend (specification section 2). */
function ownKeyRoute(app: FastifyInstance, { ledger, gatekeeper, now = Date.now }: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readOwnKey',
    summary: 'Read the calling key',
    description:
      'Any usable key: its settings, what it has spent, what is left of its limit, and until when.',
    response: { 200: OwnKey },
    'x-docs': { refusals: OWNER_REFUSALS, answer: OWN_KEY_EXAMPLE },
  };
  app.get('/api/key/', { schema }, async (request) => {
    const { id, accountId, canManage } = await callingKey(gatekeeper, request);
    const key = (await ledger.current(accountId, id))?.key;
    if (key === undefined) throw keyNotFound();
    const [[spent = micro(0)], account] = await Promise.all([
      ledger.spent(accountId, [{ id, period: key.spendingPeriod }]),
      canManage ? ledger.account(accountId) : undefined,
    ]);
    return {
      ...ownKeyView(key, spent, now()),
      ...(account === undefined ? {} : { credits_balance: creditsNumber(account.balance) }),
    };
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
