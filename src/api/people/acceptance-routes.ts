import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify';
import { type Accepts, invitationGone, type ShownInvitation as ShownRecord } from '../../book/invitations.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { hashKey } from '../../domain/key-value.ts';
import type { Person } from '../../domain/people.ts';
import { timestamp } from '../../domain/period.ts';
import { type Parsed, readBody } from '../../domain/shape.ts';
import type { Oidc } from '../../people/oidc.ts';
import type { SignedInPerson } from '../../people/signed-in.ts';
import { speakJson } from '../http/json-routes.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { BODY_REFUSALS, FAULTS, NOBODY, STRANGER_REFUSALS } from '../openapi/operation.ts';
import {
  ACCEPTANCE_EXAMPLES,
  Acceptance,
  InvitationSecret,
  SHOWN_INVITATION_EXAMPLE,
  ShownInvitation,
} from './acceptance-view.ts';
import { publishKeys, uniquePerson } from './people-routes.ts';
import { SESSION_EXAMPLE, SessionSchema, sessionView } from './person-view.ts';
import { providerNeeded } from './provider-sign-in.ts';
import {
  fromOwnOrigin,
  networkOf,
  personNeeded,
  requirePasswords,
  type SessionDeps,
} from './session-caller.ts';

export interface AcceptanceDeps extends SessionDeps {
  readonly oidc: Pick<Oidc, 'owns'>;
}

const docs = { tags: ['People'], security: NOBODY };

/** Routes for whoever has the link of an invitation. */
export function acceptanceRoutes(deps: AcceptanceDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    lookRoute(app, deps);
    acceptRoute(app, deps);
  };
}

/** Throws `invitation_gone`. */
async function invitationOf({ book }: Pick<AcceptanceDeps, 'book'>, hash: string): Promise<ShownRecord> {
  const found = await book.invitationOf(hash, Date.now());
  if (!found) throw invitationGone();
  return found;
}

function lookRoute(app: FastifyInstance, deps: AcceptanceDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'lookAtInvitation',
    summary: 'Look at an invitation',
    description: 'Returns what the invitation with this secret offers, and does not use it.',
    body: InvitationSecret.schema,
    response: { 200: ShownInvitation },
    'x-docs': {
      refusals: ['invitation_gone', ...BODY_REFUSALS, ...FAULTS],
      requests: { look: { value: { secret: '4kC…' } } },
      answer: SHOWN_INVITATION_EXAMPLE,
    },
  };
  const onRequest = async (request: FastifyRequest) => refuseUnknownParameters(request);
  app.post('/api/invitations/look/', { schema, onRequest }, async (request) => {
    const { secret } = readBody(InvitationSecret, request.body);
    const { account, role, email, expiresAt } = await invitationOf(deps, hashKey(secret));
    return { account, role, email, expires_at: timestamp(expiresAt) };
  });
}

function acceptRoute(app: FastifyInstance, deps: AcceptanceDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'Without a session, makes a person with `email`, `name` and `password`, who is then signed in: 201. With a session, ' +
      'that person becomes a member: 200; send `secret` alone. An invitation with an e-mail address can be accepted only ' +
      'under it.',
    body: Acceptance.schema,
    response: { 200: SessionSchema, 201: SessionSchema },
    'x-docs': {
      refusals: [
        ...STRANGER_REFUSALS,
        'not_signed_in',
        'not_permitted',
        'use_provider',
        'invitation_gone',
        'invitation_email',
        'email_taken',
        'already_member',
        ...BODY_REFUSALS,
      ],
      requests: ACCEPTANCE_EXAMPLES,
      answer: SESSION_EXAMPLE,
      otherAnswers: { 201: SESSION_EXAMPLE },
    },
  };
  app.post('/api/invitations/accept/', { schema, onRequest: fromOwnOrigin }, async (request, reply) => {
    const { secret, ...given } = readBody(Acceptance, request.body);
    const signedIn = await deps.sessions.of(request);
    if (signedIn && signedIn.by !== 'person') throw personNeeded();
    const person = signedIn
      ? await acceptSignedIn(deps, request, hashKey(secret), signedIn, given)
      : await acceptNew(deps, request, reply, hashKey(secret), given);
    return reply.code(signedIn ? 200 : 201).send(await sessionView(deps, person));
  });
}

type Given = Omit<Parsed<typeof Acceptance>, 'secret'>;

async function acceptSignedIn(
  deps: AcceptanceDeps,
  request: FastifyRequest,
  hash: string,
  { person }: SignedInPerson,
  given: Given,
): Promise<Person> {
  request.actor = deps.sessions.actorOf(request, person.id);
  const [extra] = Object.keys(given);
  if (extra) throw invalidField(extra, `You are signed in: send secret alone, without ${extra}.`);
  await accept(deps, request, hash, { person });
  return person;
}

/** Makes a person, who is then signed in. */
async function acceptNew(
  deps: AcceptanceDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  hash: string,
  { email, name, password }: Given,
): Promise<Person> {
  if (email === undefined && name === undefined && password === undefined) {
    throw new GatewayError('not_signed_in', 'Sign in, or send email, name and password to make a person.');
  }
  if (email === undefined) throw invalidField('email', 'email is missing: the address of the new person.');
  if (name === undefined) throw invalidField('name', 'name is missing: the name of the new person.');
  if (password === undefined) throw invalidField('password', 'password is missing: 10 to 200 characters.');
  requirePasswords(deps);
  // Before the password is hashed, so that strangers can't keep the gateway busy.
  const invitation = await invitationOf(deps, hash);
  if (invitation.email === null && deps.oidc.owns(email)) throw providerNeeded();
  const passwordHash = await deps.passwords.hash(password, networkOf(deps, request));
  const personId = await accept(deps, request, hash, {
    newPerson: { email, name, passwordHash, isOperator: false },
  });
  return (await deps.sessions.start(request, reply, personId, passwordHash)).person;
}

/** Accepts, publishes the keys of an earlier membership, and resolves with the person's id. */
async function accept(
  { book, ledger, gatekeeper }: AcceptanceDeps,
  request: FastifyRequest,
  hash: string,
  who: Accepts,
): Promise<number> {
  const from = { ip: gatekeeper.addressOf(request), requestId: request.id };
  const { personId, keys } = await uniquePerson(book.acceptInvitation(hash, who, from, Date.now()));
  await publishKeys(ledger, keys);
  return personId;
}
