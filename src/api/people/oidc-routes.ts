import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify';
import { IdentityTaken } from '../../book/identities.ts';
import { invitationGone } from '../../book/invitations.ts';
import { BookUnavailable } from '../../book/store.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { hashKey } from '../../domain/key-value.ts';
import { readBody } from '../../domain/shape.ts';
import { noSuchEndpoint } from '../../gateway/no-such-endpoint.ts';
import type { Log } from '../../log/log.ts';
import { readCookie, setCookie } from '../../people/cookies.ts';
import { callbackUrl, type LinkParts, pagePath } from '../../people/links.ts';
import {
  type AfterSignIn,
  type Identity,
  type Oidc,
  type PendingSignIn,
  SignInError,
} from '../../people/oidc.ts';
import { SEALED_S, SealedCookie } from '../../people/sealed-cookie.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { BODY_REFUSALS, NOBODY, STRANGER_REFUSALS } from '../openapi/operation.ts';
import { LOCATION_EXAMPLE, Location, type LocationView, ProviderPath, ProviderUse } from './identity-view.ts';
import { uniquePerson } from './people-routes.ts';
import { type Confirmed, signInWith } from './provider-sign-in.ts';
import { fromOwnOrigin, requireRecent, type SessionDeps, signedInCaller } from './session-caller.ts';

export interface OidcDeps extends SessionDeps {
  readonly oidc: Oidc;
  readonly links: LinkParts;
  readonly logger: Log;
}

interface Parts extends OidcDeps {
  readonly sealed: SealedCookie;
}

/** Cookie of a sign-in that is under way at a provider. */
const COOKIE = 'tollgate-sign-in';
const PATH = '/api/session/oidc/:name/';
const ME = 'me';

/** Signing in with identity providers (docs/people.md). */
export function oidcRoutes(deps: OidcDeps): FastifyPluginAsync {
  const parts = { ...deps, sealed: new SealedCookie(deps.book.secret, 'sign-in with a provider') };
  return async (app) => {
    speakJson(app);
    beginRoute(app, parts);
    useRoute(app, parts);
    callbackRoute(app, parts);
  };
}

/** The provider that a path names. Throws `unknown_endpoint`. */
function providerOf({ oidc }: Pick<OidcDeps, 'oidc'>, request: FastifyRequest): string {
  const { name } = request.params as { name: string };
  if (!oidc.settings(name)) throw noSuchEndpoint(request);
  return name;
}

/** Where a browser goes to sign in; without the provider, to the page that says so. */
async function begin(
  { oidc, links, sealed, logger }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  after: AfterSignIn,
): Promise<string> {
  const provider = providerOf({ oidc }, request);
  try {
    const { location, state } = await oidc.begin(provider, callbackUrl(request, links, provider), after);
    setCookie(request, reply, links, { name: COOKIE, value: sealed.seal(state), maxAge: SEALED_S });
    return location;
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    logger.warn({ provider, code: error.code, reason: error.message }, 'a sign-in could not begin');
    return failurePage(links, error.code);
  }
}

function failurePage(links: LinkParts, code: string): string {
  return pagePath(links, `sign-in?error=${code}`);
}

function beginRoute(app: FastifyInstance, parts: Parts): void {
  app.get(PATH, { schema: { hide: true } }, async (request, reply) => {
    providerOf(parts, request);
    refuseUnknownParameters(request);
    return reply.redirect(await begin(parts, request, reply, { to: 'sign_in' }));
  });
}

function useRoute(app: FastifyInstance, parts: Parts): void {
  const schema: FastifySchema = {
    tags: ['People'],
    security: NOBODY,
    operationId: 'useProvider',
    summary: 'Accept an invitation or link an identity with a provider',
    description:
      'Returns the address at the identity provider to which the browser goes, and sets a cookie that is needed when it ' +
      'comes back, within 10 minutes. `link` needs a session that began within 10 minutes.',
    params: ProviderPath,
    body: ProviderUse.schema,
    response: { 200: Location },
    'x-docs': {
      refusals: [
        'unknown_endpoint',
        ...STRANGER_REFUSALS,
        'not_signed_in',
        'not_permitted',
        'sign_in_again',
        'invitation_gone',
        ...BODY_REFUSALS,
      ],
      requests: {
        accept: { summary: 'Accept an invitation', value: { secret: '4kC…' } },
        link: { summary: 'Link an identity', value: { link: true } },
      },
      answer: LOCATION_EXAMPLE,
    },
  };
  const onRequest = async (request: FastifyRequest) => {
    providerOf(parts, request);
    await fromOwnOrigin(request);
  };
  app.post(PATH, { schema, onRequest }, async (request, reply): Promise<LocationView> => {
    const { secret, link } = readBody(ProviderUse, request.body);
    if ((secret === undefined) !== (link === true))
      throw invalidField(
        'secret',
        'Send either secret, to accept an invitation, or link: true, to link an identity.',
      );
    if (secret === undefined) {
      const signedIn = await signedInCaller(parts, request);
      requireRecent(signedIn, 'link an identity');
      return {
        location: await begin(parts, request, reply, { to: 'link', session: String(signedIn.sessionId) }),
      };
    }
    if (!(await parts.book.invitationOf(hashKey(secret), Date.now()))) throw invitationGone();
    return { location: await begin(parts, request, reply, { to: 'accept', secret }) };
  });
}

function callbackRoute(app: FastifyInstance, parts: Parts): void {
  const { oidc, links, sealed } = parts;
  app.get(`${PATH}callback/`, { schema: { hide: true } }, async (request, reply) => {
    const provider = providerOf(parts, request);
    const pending = sealed.open(readCookie(request, links, COOKIE) ?? '') as PendingSignIn | undefined;
    // Whatever comes of it, it is used.
    setCookie(request, reply, links, { name: COOKIE, value: '', maxAge: 0 });
    try {
      if (!pending) throw new SignInError('sign_in_failed', 'no sign-in is under way in this browser');
      const identity = await oidc.finish(provider, new URL(request.url, 'http://gateway'), pending);
      if (pending.after.to === 'link') {
        await link(parts, request, identity, pending.after.session);
        return reply.redirect(pagePath(links, ME));
      }
      const { after } = pending;
      const invitation = after.to === 'accept' ? hashKey(after.secret) : undefined;
      const confirmed: Confirmed = { provider, identity, invitation };
      await uniquePerson(signInWith(parts, request, reply, confirmed));
      return reply.redirect(pagePath(links, ''));
    } catch (error) {
      const code = await noteFailure(parts, request, provider, error);
      return reply.redirect(failurePage(links, code));
    }
  });
}

/** Links an identity to the person of the session that asked for it. */
async function link(
  { book, sessions }: Parts,
  request: FastifyRequest,
  { issuer, subject, email }: Identity,
  session: string,
): Promise<void> {
  const signedIn = await sessions.of(request);
  if (signedIn?.by !== 'person' || String(signedIn.sessionId) !== session)
    throw new SignInError('sign_in_failed', 'the session that asked for the link has ended');
  const { id } = signedIn.person;
  const linked = book.linkIdentity(id, { issuer, subject, email }, sessions.actorOf(request, id), Date.now());
  await linked.catch((error: unknown) => {
    throw error instanceof IdentityTaken ? new SignInError('identity_taken', error.message) : error;
  });
}

/** Logs why a sign-in failed, and records it unless the provider is away. Returns the code for the page. */
async function noteFailure(
  { logger, refusedChanges, gatekeeper }: Parts,
  request: FastifyRequest,
  provider: string,
  error: unknown,
): Promise<string> {
  if (error instanceof BookUnavailable) return 'service_unavailable';
  if (!(error instanceof SignInError) && !(error instanceof GatewayError)) throw error;
  const { code, message } = error;
  logger.warn({ provider, code, reason: message }, 'a sign-in with a provider failed');
  if (code === 'provider_unavailable') return code;
  await refusedChanges.add({
    by: { type: 'system', id: null, ip: gatekeeper.addressOf(request), requestId: request.id },
    action: 'session.fail',
    accountId: null,
    target: { type: 'person', id: null },
    after: { provider, code },
  });
  return code;
}
