import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { creditsNumber } from '../../domain/credits.ts';
import { KeyPatch, NewKey, parseKeyPatch } from '../../domain/key-settings.ts';
import { accountLimits, liveAmounts } from '../account/account-view.ts';
import { memberLimits } from '../account/member-limits.ts';
import {
  beforeTheBody,
  callerOf,
  callingKey,
  keyNotFound,
  readerOf,
  type WriteParts,
} from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import {
  BODY_REFUSALS,
  BY_ACCOUNT,
  BY_KEY,
  KEY_REFUSALS,
  MANAGING_REFUSALS,
  OWNER_REFUSALS,
} from '../openapi/operation.ts';
import { keyUses, keyViewNow, readKey, sendKeys } from './key-list.ts';
import {
  CREATED_KEY_EXAMPLE,
  CreatedKey,
  DeletedKey,
  KEY_EXAMPLE,
  KEY_PATCH_EXAMPLES,
  Key,
  KeyChangeHeaders,
  KeyList,
  KeyListQuery,
  KeyPath,
  NEW_KEY_EXAMPLES,
  OWN_KEY_EXAMPLE,
  OwnKey,
} from './key-schema.ts';
import { type KeyUse, ownKeyView } from './key-view.ts';
import {
  changeKey,
  createKey,
  ifMatch,
  type KeyChangeDeps,
  type KeyChangeRoutes,
  keyIdOf,
  managesAfterPatch,
  mayOf,
  mayWarn,
  readNewKey,
  warnOfModels,
  withSlugs,
} from './keys.ts';
import { rotateOwnRoute, rotateRoute } from './rotate-key.ts';

export type KeysDeps = KeyChangeDeps & WriteParts;

const docs = { tags: ['Keys'], security: BY_ACCOUNT };

/**
 * The owner's routes for keys (specification section 2). They authorize the caller before checking path and body, so
 * that a key that may not manage learns nothing about valid ids or values.
 */
export function keysRoutes(deps: KeysDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    listRoute(app, deps);
    readRoute(app, deps);
    ownKeyRoute(app, deps);
    createRoute(app, deps);
    changeRoutes(app, deps);
    rotateOwnRoute(app, deps);
  };
}

function listRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listKeys',
    summary: 'List keys',
    description:
      'Returns all keys of the account, including inactive ones, or those that match the parameters. ' +
      "A key that can't manage sees only itself.",
    querystring: KeyListQuery.schema,
    response: { 200: KeyList },
    'x-docs': {
      may: ['read keys'],
      refusals: [...OWNER_REFUSALS, 'rate_limit_exceeded'],
      answer: { keys: [KEY_EXAMPLE] },
    },
  };
  app.get('/api/keys/', { schema }, async (request, reply) => {
    const caller = await callerOf(deps, request, 'read keys');
    return sendKeys(deps, request, reply, readerOf(caller));
  });
}

function readRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readKey',
    summary: 'Read a key',
    description: "A key that can't manage sees only itself.",
    params: KeyPath,
    response: { 200: Key },
    'x-docs': {
      may: ['read keys'],
      refusals: [...OWNER_REFUSALS, 'key_not_found'],
      answer: KEY_EXAMPLE,
    },
  };
  app.get('/api/keys/:key_id/', { schema }, async (request) => {
    const caller = await callerOf(deps, request, 'read keys');
    return await readKey(deps, readerOf(caller), request);
  });
}

/** `GET /api/key/`: the calling key, with its remaining limit (specification section 2). */
function ownKeyRoute(app: FastifyInstance, deps: KeysDeps): void {
  const { book, ledger } = deps;
  const schema: FastifySchema = {
    ...docs,
    security: BY_KEY,
    operationId: 'readOwnKey',
    summary: 'Read the calling key',
    description:
      'Returns the settings of the calling key, its spend, what is left of its limit, and the end of the period. The session ' +
      'of a key serves as the key.',
    response: { 200: OwnKey },
    'x-docs': { refusals: [...KEY_REFUSALS, 'invalid_field'], answer: OWN_KEY_EXAMPLE },
  };
  app.get('/api/key/', { schema }, async (request) => {
    const {
      key: { id, accountId, canManage },
    } = await callingKey(deps, request);
    refuseUnknownParameters(request);
    await ledger.flush(accountId);
    const key = await book.key(accountId, id);
    if (key === undefined) throw keyNotFound();
    const { personId, memberSpendingLimits: spendingLimits } = key;
    const [[use], account, live, [ofMember]] = await Promise.all([
      keyUses(deps, accountId, [key]),
      book.account(accountId),
      liveAmounts(ledger, accountId),
      memberLimits(deps, accountId, personId === null ? [] : [{ personId, spendingLimits }]),
    ]);
    const ofAccount = account ? accountLimits(account, live) : [];
    const seen = canManage
      ? ofAccount
      : ofAccount.map((limit) => ({ ...limit, spent: null, remaining: null }));
    return {
      ...ownKeyView(key, use as KeyUse, [...(ofMember ?? []), ...seen], live.now),
      ...(canManage ? { credits_balance: creditsNumber(live.balance) } : {}),
    };
  });
}

function createRoute(app: FastifyInstance, deps: KeysDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createKey',
    summary: 'Create a key',
    description: 'Only this answer contains the value of the key.',
    body: NewKey.schema,
    response: { 201: mayWarn(CreatedKey) },
    'x-docs': {
      may: ['change keys'],
      refusals: [
        ...MANAGING_REFUSALS,
        ...BODY_REFUSALS,
        'member_not_found',
        'member_inactive',
        'too_many_keys',
      ],
      requests: NEW_KEY_EXAMPLES,
      answer: CREATED_KEY_EXAMPLE,
    },
  };
  const onRequest = beforeTheBody(deps, 'change keys');
  app.post('/api/keys/', { schema, onRequest }, async (request, reply) => {
    const caller = await callerOf(deps, request, 'change keys');
    const settings = await readNewKey(deps, request.body, caller.accountId, caller);
    const created = await createKey(deps, caller.accountId, settings, caller.actor);
    warnOfModels(reply, deps.catalog(), settings);
    return reply.code(201).send(created);
  });
}

function changeRoutes(app: FastifyInstance, deps: KeysDeps): void {
  keyChangeRoutes(app, deps, {
    path: '/api/keys/:key_id/',
    changerOf: async (request) => {
      const caller = await callerOf(deps, request, 'change keys');
      return { accountId: caller.accountId, callerId: caller.key?.id, actor: caller.actor, caller };
    },
    may: ['change keys'],
    onRequest: beforeTheBody(deps, 'change keys'),
    docs: { ...docs, params: KeyPath },
    refusals: MANAGING_REFUSALS,
    update: {
      operationId: 'updateKey',
      summary: 'Update a key',
      description:
        'Changes only the fields you send. Takes effect at every gateway before you get the answer.',
    },
    remove: {
      operationId: 'deleteKey',
      summary: 'Delete a key',
      description:
        'Deactivates the key: every gateway refuses it from the answer on. Its ledger entries stay.',
    },
    rotate: {
      operationId: 'rotateKey',
      summary: 'Rotate a key',
      description:
        'Gives the key a new value, which only this answer contains. Its id, settings, limits, spend and ledger stay. The ' +
        'previous value stays valid for `grace_seconds` more, then every gateway refuses it; with 0 or an empty body, it ends ' +
        'at once. A value from an earlier rotation ends now. `end_grace` ends the previous value without a new one. An ' +
        'inactive key stays inactive and keeps only its new value. After a 503, the values are unchanged unless the message ' +
        'says that this is uncertain.',
    },
  });
}

/** Registers PATCH, DELETE and rotation of a key (specification sections 2 and 7). */
export function keyChangeRoutes(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  updateRoute(app, deps, routes);
  deleteRoute(app, deps, routes);
  rotateRoute(app, deps, routes);
}

function updateRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.update,
    headers: KeyChangeHeaders,
    body: KeyPatch.schema,
    response: { 200: mayWarn(Key) },
    'x-docs': {
      ...mayOf(routes),
      refusals: [
        ...routes.refusals,
        'key_not_found',
        'version_conflict',
        'member_inactive',
        ...BODY_REFUSALS,
      ],
      requests: KEY_PATCH_EXAMPLES,
      answer: KEY_EXAMPLE,
    },
  };
  app.patch(routes.path, { schema, ...hookOf(routes) }, async (request, reply) => {
    const { accountId, callerId, actor, caller } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const change = withSlugs(parseKeyPatch(request.body), deps.catalog());
    const canManage = managesAfterPatch(change, { isOwn: callerId === keyId });
    const settings = { ...change, ...canManage };
    const ifVersion = ifMatch(request);
    const key = await changeKey(deps, { accountId, keyId, settings, ifVersion, actor, caller });
    warnOfModels(reply, deps.catalog(), change);
    return await keyViewNow(deps, key);
  });
}

/** A deleted key becomes inactive; the book keeps it for the ledger. */
function deleteRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.remove,
    headers: KeyChangeHeaders,
    response: { 200: DeletedKey },
    'x-docs': {
      ...mayOf(routes),
      refusals: [...routes.refusals, 'key_not_found', 'version_conflict'],
      answer: { deleted: true },
    },
  };
  app.delete(routes.path, { schema, ...hookOf(routes) }, async (request) => {
    const { accountId, actor, caller } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const settings = { isActive: false };
    const action = 'key.delete';
    const ifVersion = ifMatch(request);
    await changeKey(deps, { accountId, keyId, settings, ifVersion, actor, caller, action });
    return { deleted: true };
  });
}

function hookOf({ onRequest }: KeyChangeRoutes) {
  return onRequest === undefined ? {} : { onRequest };
}
