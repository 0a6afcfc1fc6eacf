import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import { hashKey } from '../../domain/key-value.ts';
import { readBody } from '../../domain/shape.ts';
import { speakJson } from '../http/json-routes.ts';
import { BODY_REFUSALS, NOBODY, STRANGER_REFUSALS } from '../openapi/operation.ts';
import { PERSON_EXAMPLE, PersonSchema, personView, ResetBody } from './person-view.ts';
import { fromOwnOrigin, networkOf, requirePasswords, type SessionDeps } from './session-caller.ts';

/** `POST /api/session/reset/`: a new password by a link of an operator. */
export function resetRoute(deps: SessionDeps): FastifyPluginAsync {
  const { book, passwords } = deps;
  const schema: FastifySchema = {
    tags: ['People'],
    security: NOBODY,
    operationId: 'resetPassword',
    summary: 'Set a new password by a link',
    description: 'Ends all sessions of the person, and does not sign in.',
    body: ResetBody.schema,
    response: { 200: PersonSchema },
    'x-docs': {
      refusals: [...STRANGER_REFUSALS, 'use_provider', 'reset_gone', ...BODY_REFUSALS],
      requests: { password: { value: { secret: '4kC…', password: 'correct horse battery' } } },
      answer: PERSON_EXAMPLE,
    },
  };
  return async (app) => {
    speakJson(app);
    app.post('/api/session/reset/', { schema, onRequest: fromOwnOrigin }, async (request) => {
      requirePasswords(deps);
      const { secret, password } = readBody(ResetBody, request.body);
      const link = hashKey(secret);
      // Before the password is hashed, so that strangers can't keep the gateway busy.
      if (!(await book.hasLink('reset', link, Date.now()))) throw resetGone();
      const hash = await passwords.hash(password, networkOf(deps, request));
      const from = { ip: deps.gatekeeper.addressOf(request), requestId: request.id };
      const person = await book.useResetLink(link, hash, from, Date.now());
      if (!person) throw resetGone();
      return personView(person);
    });
  };
}

function resetGone(): GatewayError {
  return new GatewayError(
    'reset_gone',
    'This link was used, has ended, or is wrong. Ask an operator for a new one.',
  );
}
