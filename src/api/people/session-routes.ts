import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { readBody } from '../../domain/shape.ts';
import { wrongPassword } from '../../people/sign-in.ts';
import type { SignedInPerson } from '../../people/signed-in.ts';
import { notSignedIn } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { requireOwnOrigin } from '../http/own-origin.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { pathId } from '../openapi/fields.ts';
import {
  BODY_REFUSALS,
  BY_SESSION,
  FAULTS,
  NOBODY,
  SESSION_REFUSALS,
  STRANGER_REFUSALS,
} from '../openapi/operation.ts';
import { CREDENTIAL_REFUSALS, RESTRICTED, signInWithCredential, viewOf } from './credential-session.ts';
import { Deleted } from './member-view.ts';
import {
  OwnPersonPatch,
  PERSON_EXAMPLE,
  PersonSchema,
  personView,
  SESSION_EXAMPLE,
  SESSION_LIST_EXAMPLE,
  SessionList,
  SessionPath,
  SessionSchema,
  SignInBody,
  sessionListView,
  sessionView,
  Ways,
} from './person-view.ts';
import {
  beforeTheBodyOfPerson,
  checkPassword,
  fromOwnOrigin,
  networkOf,
  requirePasswords,
  requireRecent,
  type SessionDeps,
  signedInCaller,
} from './session-caller.ts';

const docs = { tags: ['People'], security: BY_SESSION };

/** Signing in and out, and what a person changes of themselves (docs/people.md). */
export function sessionRoutes(deps: SessionDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    waysRoute(app, deps);
    signInRoute(app, deps);
    readRoute(app, deps);
    signOutRoute(app, deps);
    updateRoute(app, deps);
    listRoute(app, deps);
    endRoutes(app, deps);
  };
}

function waysRoute(app: FastifyInstance, { ways }: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    security: NOBODY,
    operationId: 'readWaysToSignIn',
    summary: 'Read how people sign in',
    response: { 200: Ways },
    'x-docs': { refusals: ['invalid_field'], answer: { passwords: true, oidc: ['company'] } },
  };
  app.get('/api/session/ways/', { schema }, async (request) => {
    refuseUnknownParameters(request);
    return ways;
  });
}

function signInRoute(app: FastifyInstance, deps: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    security: NOBODY,
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      'With `email` and `password`, or with `key`, an API key or the operator token. Sets the cookie of a session, and ends ' +
      'the session that the browser had. A session ends after 7 days without use, and after 30 days. Ten failures a minute for a person, or 30 from an address, ' +
      'get 429. The session of a key or of the token has exactly its rights and restrictions, and ends with it.',
    body: SignInBody.schema,
    response: { 200: SessionSchema },
    'x-docs': {
      refusals: [
        ...STRANGER_REFUSALS,
        'use_provider',
        'invalid_credentials',
        'rate_limit_exceeded',
        ...CREDENTIAL_REFUSALS,
        ...BODY_REFUSALS,
      ],
      requests: {
        person: {
          summary: 'A person',
          value: { email: 'ada@example.com', password: 'correct horse battery' },
        },
        key: { summary: 'A key, or the operator token', value: { key: 'sk-tg-…' } },
      },
      answer: SESSION_EXAMPLE,
    },
  };
  app.post('/api/session/', { schema, onRequest: fromOwnOrigin }, async (request, reply) => {
    const { email, password, key } = readBody(SignInBody, request.body);
    if (key !== undefined) {
      if (email !== undefined || password !== undefined)
        throw invalidField('key', 'Send either key, or email and password.');
      return await signInWithCredential(deps, request, reply, key);
    }
    requirePasswords(deps);
    if (email === undefined) throw invalidField('email', 'email is missing: the address of the person.');
    if (password === undefined) throw invalidField('password', 'password is missing.');
    const { person, passwordHash } = await checkPassword(deps, request, { email, password });
    const signedIn = await deps.sessions.start(request, reply, person.id, passwordHash);
    return await sessionView(deps, signedIn.person);
  });
}

function readRoute(app: FastifyInstance, deps: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readSession',
    summary: 'Read who is signed in',
    response: { 200: SessionSchema },
    'x-docs': {
      refusals: ['not_signed_in', ...RESTRICTED, 'invalid_field', ...FAULTS],
      answer: SESSION_EXAMPLE,
    },
  };
  app.get('/api/session/', { schema }, async (request) => {
    const signedIn = await deps.sessions.of(request);
    if (!signedIn) throw notSignedIn();
    refuseUnknownParameters(request);
    return await viewOf(deps, request, signedIn);
  });
}

function signOutRoute(app: FastifyInstance, deps: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends the session of the request. It is over at the next request, at every gateway.',
    response: { 200: Deleted },
    'x-docs': { refusals: ['not_signed_in', 'invalid_field', ...FAULTS], answer: { deleted: true } },
  };
  app.delete('/api/session/', { schema }, async (request, reply) => {
    const signedIn = await deps.sessions.of(request);
    if (!signedIn) throw notSignedIn();
    request.actor = deps.sessions.actor(request, signedIn);
    requireOwnOrigin(request);
    refuseUnknownParameters(request);
    await deps.sessions.end(request, reply, signedIn);
    return { deleted: true };
  });
}

function updateRoute(app: FastifyInstance, deps: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateOwnPerson',
    summary: 'Change your name or password',
    description:
      'A new password needs `current_password`, and ends all other sessions. A person without a password sets one within ' +
      '10 minutes of a sign-in.',
    body: OwnPersonPatch.schema,
    response: { 200: PersonSchema },
    'x-docs': {
      refusals: [
        ...SESSION_REFUSALS.changing,
        'use_provider',
        'invalid_credentials',
        'sign_in_again',
        'rate_limit_exceeded',
        ...BODY_REFUSALS,
      ],
      statuses: { invalid_credentials: 403 },
      requests: {
        name: { summary: 'Change the name', value: { name: 'Ada Lovelace' } },
      },
      answer: PERSON_EXAMPLE,
    },
  };
  const onRequest = beforeTheBodyOfPerson(deps);
  app.patch('/api/session/person/', { schema, onRequest }, async (request) => {
    const signedIn = await signedInCaller(deps, request);
    const { name, password, currentPassword } = readBody(OwnPersonPatch, request.body);
    const by = deps.sessions.actorOf(request, signedIn.person.id);
    if (password !== undefined) {
      requirePasswords(deps);
      await requireOwn(deps, request, signedIn, currentPassword);
      const hash = await deps.passwords.hash(password, networkOf(deps, request));
      await deps.book.setPassword(signedIn.person.id, hash, signedIn.sessionId, by, Date.now());
    }
    const change = name === undefined ? {} : { name };
    const changed = await deps.book.updatePerson(signedIn.person.id, change, by, Date.now());
    return personView(changed?.person ?? signedIn.person);
  });
}

/** Throws unless the person shows the present password or, without one, has just signed in. */
async function requireOwn(
  deps: SessionDeps,
  request: Parameters<typeof checkPassword>[1],
  signedIn: SignedInPerson,
  currentPassword: string | undefined,
): Promise<void> {
  const { person } = signedIn;
  if (typeof (await deps.book.passwordHash(person.id)) !== 'string')
    return requireRecent(signedIn, 'set a password');
  if (currentPassword === undefined)
    throw invalidField(
      'current_password',
      'current_password is missing: a new password needs the present one.',
    );
  const credentials = { email: person.email, password: currentPassword };
  await checkPassword(deps, request, credentials).catch((error: unknown) => {
    throw error instanceof GatewayError && error.code === 'invalid_credentials' ? wrongPassword() : error;
  });
}

function listRoute(app: FastifyInstance, deps: SessionDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listSessions',
    summary: 'List your sessions',
    response: { 200: SessionList },
    'x-docs': { refusals: SESSION_REFUSALS.reading, answer: SESSION_LIST_EXAMPLE },
  };
  app.get('/api/session/sessions/', { schema }, async (request) => {
    const { person, sessionId } = await signedInCaller(deps, request);
    return sessionListView(await deps.book.sessions(person.id, Date.now()), sessionId);
  });
}

function endRoutes(app: FastifyInstance, deps: SessionDeps): void {
  const path = '/api/session/sessions/';
  const shared = { ...docs, response: { 200: Deleted } };
  const all: FastifySchema = {
    ...shared,
    operationId: 'endSessions',
    summary: 'End all your sessions',
    description: 'Also that of the request.',
    'x-docs': { refusals: SESSION_REFUSALS.changing, answer: { deleted: true } },
  };
  app.delete(path, { schema: all }, async (request, reply) => {
    const { person } = await signedInCaller(deps, request);
    await deps.book.endSessions(person.id, undefined, deps.sessions.actorOf(request, person.id), Date.now());
    deps.sessions.forget(request, reply);
    return { deleted: true };
  });
  const one: FastifySchema = {
    ...shared,
    operationId: 'endSession',
    summary: 'End one of your sessions',
    params: SessionPath,
    'x-docs': {
      refusals: [...SESSION_REFUSALS.changing, 'session_not_found'],
      answer: { deleted: true },
    },
  };
  app.delete(`${path}:session_id/`, { schema: one }, async (request) => {
    const { person } = await signedInCaller(deps, request);
    const id = pathId((request.params as { session_id: string }).session_id);
    const by = deps.sessions.actorOf(request, person.id);
    const ended = id === undefined ? 0 : await deps.book.endSessions(person.id, id, by, Date.now());
    if (ended === 0) throw new GatewayError('session_not_found', 'You have no session with this id.');
    return { deleted: true };
  });
}
