import type { FastifyInstance, FastifySchema } from 'fastify';
import { parseRotation } from '../domain/rotation.ts';
import { objectBody } from './body-fields.ts';
import { BODY_REFUSALS } from './docs/refusals.ts';
import type { KeyChangeDeps, KeyChangeRoutes } from './key-changer.ts';
import { ROTATED_KEY_EXAMPLE, ROTATION_EXAMPLES } from './key-examples.ts';
import { keyViewNow } from './key-list.ts';
import { KeyChangeHeaders } from './key-schema.ts';
import { ifMatch, keyIdOf } from './keys.ts';
import { endGrace, rotateKey } from './rotate-key.ts';
import { RotatedOrEnded, Rotation } from './rotation-schema.ts';

const FIELDS = Object.keys(Rotation.properties);

/** Registers `POST …/rotate/` of a key (specification sections 2 and 7). */
export function rotateRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.rotate,
    headers: KeyChangeHeaders,
    body: Rotation,
    response: { 200: RotatedOrEnded },
    'x-docs': {
      refusals: [...routes.refusals, 'key_not_found', 'version_conflict', ...BODY_REFUSALS],
      isBodyOptional: true,
      requests: ROTATION_EXAMPLES,
      answer: ROTATED_KEY_EXAMPLE,
    },
  };
  const hook = routes.onRequest === undefined ? {} : { onRequest: routes.onRequest };
  app.post(`${routes.path}rotate/`, { schema, ...hook }, async (request) => {
    const { accountId } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const asked = parseRotation(request.body === undefined ? {} : objectBody(request.body, FIELDS));
    const which = { accountId, keyId, ifVersion: ifMatch(request) };
    if (asked.kind === 'rotate') return await rotateKey(deps, which, asked.graceS);
    return await keyViewNow(deps, await endGrace(deps, which));
  });
}
