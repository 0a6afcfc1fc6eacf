import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import type { Oidc } from '../../people/oidc.ts';
import { speakJson } from '../http/json-routes.ts';
import { pathId } from '../openapi/fields.ts';
import { BY_SESSION, SESSION_REFUSALS } from '../openapi/operation.ts';
import { IDENTITY_LIST_EXAMPLE, IdentityList, IdentityPath, identityListView } from './identity-view.ts';
import { Deleted } from './member-view.ts';
import { type SessionDeps, signedInCaller } from './session-caller.ts';

const docs = { tags: ['People'], security: BY_SESSION };
const LIST = '/api/session/identities/';

/** The identities at providers with which a person signs in. */
export function identityRoutes(deps: SessionDeps & { readonly oidc: Oidc }): FastifyPluginAsync {
  const { book, sessions, oidc, ways } = deps;
  const list: FastifySchema = {
    ...docs,
    operationId: 'listIdentities',
    summary: 'List your identities at providers',
    response: { 200: IdentityList },
    'x-docs': { refusals: SESSION_REFUSALS.reading, answer: IDENTITY_LIST_EXAMPLE },
  };
  const unlink: FastifySchema = {
    ...docs,
    operationId: 'unlinkIdentity',
    summary: 'Unlink one of your identities',
    description: 'Your last way to sign in stays.',
    params: IdentityPath,
    response: { 200: Deleted },
    'x-docs': {
      refusals: [...SESSION_REFUSALS.changing, 'identity_not_found', 'last_way'],
      answer: { deleted: true },
    },
  };
  return async (app) => {
    speakJson(app);
    app.get(LIST, { schema: list }, async (request) => {
      const { person } = await signedInCaller(deps, request);
      return identityListView(await book.identities(person.id), (issuer) => oidc.nameOf(issuer));
    });
    app.delete(`${LIST}:identity_id/`, { schema: unlink }, async (request) => {
      const { person } = await signedInCaller(deps, request);
      const id = pathId((request.params as { identity_id: string }).identity_id);
      const usable = {
        passwords: ways.passwords,
        provides: (issuer: string) => oidc.nameOf(issuer) !== undefined,
      };
      const by = sessions.actorOf(request, person.id);
      if (id === undefined || !(await book.unlinkIdentity(person.id, id, usable, by, Date.now())))
        throw new GatewayError('identity_not_found', 'You have no identity with this id.');
      return { deleted: true };
    });
  };
}
