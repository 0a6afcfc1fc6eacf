import { timingSafeEqual } from 'node:crypto';
import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import { hashKey } from '../../domain/key-value.ts';
import { readBody } from '../../domain/shape.ts';
import { speakJson } from '../http/json-routes.ts';
import { BODY_REFUSALS, NOBODY, STRANGER_REFUSALS } from '../openapi/operation.ts';
import { uniquePerson } from './people-routes.ts';
import { SESSION_EXAMPLE, SessionSchema, SetupBody, sessionView } from './person-view.ts';
import { fromOwnOrigin, networkOf, requirePasswords, type SessionDeps } from './session-caller.ts';

export interface SetupDeps extends SessionDeps {
  /** The code that this process printed; undefined: none. */
  readonly setupCode: string | undefined;
}

/** `POST /api/setup/`: the first operator, or one for whom the command line made a link. */
export function setupRoute(deps: SetupDeps): FastifyPluginAsync {
  const { book, passwords, sessions } = deps;
  const ofProcess = deps.setupCode === undefined ? undefined : hashKey(deps.setupCode);
  const schema: FastifySchema = {
    tags: ['People'],
    security: NOBODY,
    operationId: 'setUp',
    summary: 'Create the first operator',
    description:
      'With the code that the gateway printed at its start, or that `tollgate person create --operator` printed. Makes an ' +
      'operator, who is signed in; the first one also owns the demo account, if there is one.',
    body: SetupBody.schema,
    response: { 201: SessionSchema },
    'x-docs': {
      refusals: [...STRANGER_REFUSALS, 'use_provider', 'setup_gone', 'email_taken', ...BODY_REFUSALS],
      requests: {
        first: {
          value: { code: '4kC…', email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
        },
      },
      answer: SESSION_EXAMPLE,
    },
  };
  return async (app) => {
    speakJson(app);
    app.post('/api/setup/', { schema, onRequest: fromOwnOrigin }, async (request, reply) => {
      requirePasswords(deps);
      const { code, password, ...wanted } = readBody(SetupBody, request.body);
      const hash = hashKey(code);
      const isOfProcess =
        ofProcess !== undefined && timingSafeEqual(Buffer.from(hash), Buffer.from(ofProcess));
      // Before the password is hashed, so that strangers can't keep the gateway busy.
      const isOpen = isOfProcess
        ? !(await book.hasOperator())
        : await book.hasLink('setup', hash, Date.now());
      if (!isOpen) throw setupGone();
      const passwordHash = await passwords.hash(password, networkOf(deps, request));
      const from = { ip: deps.gatekeeper.addressOf(request), requestId: request.id };
      const person = await uniquePerson(
        book.setUp({ hash, isOfProcess }, { ...wanted, passwordHash }, from, Date.now()),
      );
      if (!person) throw setupGone();
      const signedIn = await sessions.start(request, reply, person.id, passwordHash);
      return reply.code(201).send(await sessionView(deps, signedIn.person));
    });
  };
}

function setupGone(): GatewayError {
  return new GatewayError(
    'setup_gone',
    'This code is wrong, was used, or is of an earlier start of the gateway. Use the link that it printed last.',
  );
}
