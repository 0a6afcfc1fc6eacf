import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestAsyncHookHandler } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { parseKeyPatch } from '../domain/key-settings.ts';
import { BODY_REFUSALS } from './docs/refusals.ts';
import { KEY_EXAMPLE, KEY_PATCH_EXAMPLES } from './key-examples.ts';
import { keyViews } from './key-list.ts';
import { DeletedKey, Key, KeyChangeHeaders, KeyPatch } from './key-schema.ts';
import { changeKey, ifMatch, type KeyCommandDeps, keyIdOf, managesAfterPatch } from './keys.ts';
import { mayWarn, warnOfModels } from './model-warning.ts';

export interface KeyChangeDeps extends KeyCommandDeps {
  readonly catalog: () => Catalog;
}

/** Caller that changes a key of an account: its owner, or the operator. */
export interface KeyChanger {
  readonly accountId: number;
  /** Id of the calling key; undefined: the operator. */
  readonly callerId?: number;
}

type Words = Required<Pick<FastifySchema, 'operationId' | 'summary' | 'description'>>;

/** What differs between the owner's and the operator's routes that change a key. */
export interface KeyChangeRoutes {
  /** Ends with `:key_id/`. */
  readonly path: string;
  /** Authorises the request, before anything else of it is looked at. Rejects with the refusal. */
  readonly changerOf: (request: FastifyRequest) => Promise<KeyChanger>;
  readonly onRequest?: onRequestAsyncHookHandler;
  /** The description of both routes, and the refusals that precede those for the key. */
  readonly docs: Pick<FastifySchema, 'tags' | 'security' | 'params'>;
  readonly refusals: readonly ErrorCode[];
  readonly update: Words;
  readonly remove: Words;
}

/** Registers PATCH and DELETE of a key (specification sections 2 and 7). */
export function keyChangeRoutes(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  updateRoute(app, deps, routes);
  deleteRoute(app, deps, routes);
}

function updateRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.update,
    headers: KeyChangeHeaders,
    body: KeyPatch,
    response: { 200: mayWarn(Key) },
    'x-docs': {
      refusals: [...routes.refusals, 'key_not_found', 'version_conflict', ...BODY_REFUSALS],
      requests: KEY_PATCH_EXAMPLES,
      answer: KEY_EXAMPLE,
    },
  };
  app.patch(routes.path, { schema, ...hookOf(routes) }, async (request, reply) => {
    const { accountId, callerId } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const change = parseKeyPatch(request.body);
    const canManage = managesAfterPatch(change, { isOwn: callerId === keyId });
    const settings = { ...change, ...canManage };
    const key = await changeKey(deps, { accountId, keyId, settings, ifVersion: ifMatch(request) });
    const [view] = await keyViews(deps.ledger, accountId, [key]);
    warnOfModels(reply, deps.catalog(), change);
    return view;
  });
}

/** A key that is deleted stays in the book, for the ledger, and is inactive. */
function deleteRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.remove,
    headers: KeyChangeHeaders,
    response: { 200: DeletedKey },
    'x-docs': {
      refusals: [...routes.refusals, 'key_not_found', 'version_conflict'],
      answer: { deleted: true },
    },
  };
  app.delete(routes.path, { schema, ...hookOf(routes) }, async (request) => {
    const { accountId } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const settings = { isActive: false };
    await changeKey(deps, { accountId, keyId, settings, ifVersion: ifMatch(request) });
    return { deleted: true };
  });
}

function hookOf({ onRequest }: KeyChangeRoutes) {
  return onRequest === undefined ? {} : { onRequest };
}
