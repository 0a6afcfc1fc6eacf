import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { LINK_MS } from '../../book/one-time-links.ts';
import { LastOperator, PersonEmailTaken } from '../../book/persons.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { readBody, readQuery } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type LinkParts, pageLink } from '../../people/links.ts';
import { type Mailer, resetMail } from '../../people/mail.ts';
import { newSecret } from '../../people/sessions.ts';
import { operatorOf } from '../http/callers.ts';
import { pathId } from '../openapi/fields.ts';
import { BODY_REFUSALS, BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { Deleted, PersonPath } from './member-view.ts';
import {
  LINK_EXAMPLE,
  LinkAnswer,
  type LinkView,
  NewPersonBody,
  PERSON_EXAMPLE,
  PeopleQuery,
  PersonPage,
  type PersonPageView,
  PersonPatch,
  PersonSchema,
  personView,
} from './person-view.ts';
import { requirePasswords } from './session-caller.ts';

/** Collaborators of the operator's routes for people. */
export interface PeopleDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly links: LinkParts;
  readonly mailer: Pick<Mailer, 'sendSoon'>;
  readonly config: {
    readonly adminToken: string | undefined;
    readonly people: { readonly passwords: boolean };
  };
}

const docs = { tags: ['Operator'], security: BY_OPERATOR };
const LIST = '/api/admin/people/';
const ONE = `${LIST}:person_id/`;

/** The operator's routes for people (docs/people.md). */
export function adminPeopleRoutes(app: FastifyInstance, deps: PeopleDeps): void {
  listRoute(app, deps);
  createRoute(app, deps);
  updateRoute(app, deps);
  resetRoute(app, deps);
  eraseRoute(app, deps);
}

function listRoute(app: FastifyInstance, { book }: PeopleDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listPeople',
    summary: 'List people',
    querystring: PeopleQuery.schema,
    response: { 200: PersonPage },
    'x-docs': { refusals: OPERATOR_REFUSALS, answer: { people: [PERSON_EXAMPLE], next: null } },
  };
  app.get(LIST, { schema }, async (request): Promise<PersonPageView> => {
    const { limit, after = 0, search } = readQuery(PeopleQuery, request.query);
    const found = await book.persons(after, limit + 1, search);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return { people: page.map(personView), next: last === undefined ? null : String(last.id) };
  });
}

function createRoute(app: FastifyInstance, deps: PeopleDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createPerson',
    summary: 'Create a person',
    description:
      'Returns a link with which the person sets a password. With `is_operator`, the link creates the operator, who must use ' +
      'this e-mail address. To make somebody a member of an account, invite them to it instead.',
    body: NewPersonBody.schema,
    response: { 201: LinkAnswer },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'use_provider', 'email_taken', ...BODY_REFUSALS],
      requests: { operator: { value: { email: 'ada@example.com', is_operator: true } } },
      answer: LINK_EXAMPLE,
    },
  };
  app.post(LIST, { schema }, async (request, reply): Promise<LinkView> => {
    const { email, isOperator } = readBody(NewPersonBody, request.body);
    requirePasswords({ ways: deps.config.people });
    const { secret, hash } = newSecret();
    const by = operatorOf(request);
    const now = Date.now();
    if (isOperator) await uniquePerson(deps.book.createSetupLink(email, hash, by, now));
    else await uniquePerson(deps.book.createPerson(email, hash, by, now));
    reply.code(201);
    if (isOperator) return { link: pageLink(request, deps.links, 'setup', secret), mailed: false };
    return await resetLink(deps, request, email, secret);
  });
}

function updateRoute(app: FastifyInstance, { book, ledger, config }: PeopleDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updatePerson',
    summary: 'Update a person',
    description:
      'Changes only the fields you send. `is_active: false` ends all sessions and deactivates all keys of the person, from ' +
      'the answer on; the keys stay inactive when the person returns. Without ADMIN_TOKEN, the last active operator stays.',
    params: PersonPath,
    body: PersonPatch.schema,
    response: { 200: PersonSchema },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'person_not_found', 'email_taken', 'last_operator', ...BODY_REFUSALS],
      requests: {
        deactivate: { summary: 'Sign a person out for good', value: { is_active: false } },
        operator: { summary: 'Make an operator', value: { is_operator: true } },
      },
      answer: PERSON_EXAMPLE,
    },
  };
  app.patch(ONE, { schema }, async (request) => {
    const change = readBody(PersonPatch, request.body);
    const keepOperator = config.adminToken === undefined;
    const changed = await uniquePerson(
      book.updatePerson(personIdOf(request), change, operatorOf(request), Date.now(), keepOperator),
    ).catch(refuseLastOperator);
    if (!changed) throw personNotFound();
    await publishKeys(ledger, changed.keys);
    return personView(changed.person);
  });
}

function resetRoute(app: FastifyInstance, deps: PeopleDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createResetLink',
    summary: 'Let a person set a new password',
    description:
      'Returns a link, which works once and for 24 hours. Until it is used, nothing changes; then all sessions of the person end.',
    params: PersonPath,
    response: { 200: LinkAnswer },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'use_provider', 'person_not_found'],
      answer: LINK_EXAMPLE,
    },
  };
  app.post(`${ONE}reset/`, { schema }, async (request): Promise<LinkView> => {
    requirePasswords({ ways: deps.config.people });
    const { secret, hash } = newSecret();
    const person = await deps.book.createResetLink(
      personIdOf(request),
      hash,
      operatorOf(request),
      Date.now(),
    );
    if (!person) throw personNotFound();
    return await resetLink(deps, request, person.email, secret);
  });
}

/** The link of a secret for a new password, which mail takes to the person, if any is set. */
async function resetLink(
  { links, mailer }: PeopleDeps,
  request: FastifyRequest,
  email: string,
  secret: string,
): Promise<LinkView> {
  const link = pageLink(request, links, 'reset', secret);
  const mailed = await mailer.sendSoon(resetMail(email, { link, expiresAt: Date.now() + LINK_MS }));
  return { link, mailed };
}

function refuseLastOperator(error: unknown): never {
  if (!(error instanceof LastOperator)) throw error;
  throw new GatewayError(
    'last_operator',
    'This is the last active operator, and no ADMIN_TOKEN is set. Make another person an operator first.',
  );
}

function eraseRoute(app: FastifyInstance, { book, ledger, config }: PeopleDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'erasePerson',
    summary: 'Erase a person',
    description:
      'Ends memberships, sessions and keys, and takes names, e-mail addresses and IP addresses out of every table, the audit ' +
      'log too. Ids stay. It cannot be undone.',
    params: PersonPath,
    response: { 200: Deleted },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'person_not_found', 'last_operator'],
      answer: { deleted: true },
    },
  };
  app.delete(ONE, { schema }, async (request) => {
    const keepOperator = config.adminToken === undefined;
    const keys = await book
      .erasePerson(personIdOf(request), operatorOf(request), Date.now(), keepOperator)
      .catch(refuseLastOperator);
    if (!keys) throw personNotFound();
    await publishKeys(ledger, keys);
    return { deleted: true };
  });
}

/** Publishes changed keys: the next call at any gateway sees them. */
export async function publishKeys(ledger: Ledger, keys: readonly KeyRecord[]): Promise<void> {
  await Promise.all(keys.map((key) => ledger.publishKey(key)));
}

function personIdOf(request: FastifyRequest): number {
  const id = pathId((request.params as { person_id: string }).person_id);
  if (id === undefined) throw personNotFound();
  return id;
}

function personNotFound(): GatewayError {
  return new GatewayError('person_not_found', 'No person has this id.');
}

/** Turns PersonEmailTaken into 409 `email_taken`. */
export async function uniquePerson<Result>(written: Promise<Result>): Promise<Result> {
  return await written.catch((error: unknown) => {
    if (!(error instanceof PersonEmailTaken)) throw error;
    throw new GatewayError(
      'email_taken',
      'Another person has this e-mail address. If it is you, sign in first.',
      'email',
    );
  });
}
