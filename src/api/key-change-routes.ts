import type { FastifyInstance, FastifySchema } from 'fastify';
import { parseKeyPatch } from '../domain/key-settings.ts';
import { BODY_REFUSALS } from './docs/refusals.ts';
import type { KeyChangeDeps, KeyChangeRoutes } from './key-changer.ts';
import { KEY_EXAMPLE, KEY_PATCH_EXAMPLES } from './key-examples.ts';
import { keyViewNow } from './key-list.ts';
import { DeletedKey, Key, KeyChangeHeaders, KeyPatch } from './key-schema.ts';
import { changeKey, ifMatch, keyIdOf, managesAfterPatch } from './keys.ts';
import { mayWarn, warnOfModels } from './model-warning.ts';
import { rotateRoute } from './rotate-route.ts';

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
    warnOfModels(reply, deps.catalog(), change);
    return await keyViewNow(deps, key);
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
