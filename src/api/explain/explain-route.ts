import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { Config } from '../../config/config.ts';
import { type ParsedAddress, parseAddress } from '../../domain/addresses.ts';
import { hasCallLimits, NO_LIMIT_STATES } from '../../domain/call-limits.ts';
import { ASKED_FACTS } from '../../domain/caller.ts';
import type { Catalog } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { shortText, storable } from '../../domain/key-readers.ts';
import { parseTimestamp, periodStarts } from '../../domain/period.ts';
import { compileKey } from '../../domain/rules.ts';
import { maybe, oneOf, type Parsed, readBody, required, section } from '../../domain/shape.ts';
import { ownedLimits, spentIn, type Windows } from '../../domain/spending-limits.ts';
import type { CountryLookup } from '../../gateway/country.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import type { TargetHealth } from '../../gateway/targets/target-health.ts';
import type { Ledger, Subject } from '../../ledger/ledger.ts';
import { AccountKeyPath } from '../account/account-view.ts';
import {
  beforeTheBody,
  callerOf,
  keyAsked,
  keyNotFound,
  type Reader,
  readerOf,
  type WriteParts,
} from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { OPERATOR } from '../http/long-answer.ts';
import { seesAll } from '../http/seen.ts';
import { KeyPath } from '../keys/key-schema.ts';
import { keyIdOf } from '../keys/keys.ts';
import {
  BODY_REFUSALS,
  BY_ACCOUNT,
  BY_OPERATOR,
  MANAGING_REFUSALS,
  OPERATOR_REFUSALS,
} from '../openapi/operation.ts';
import { accountOf } from '../operator/admin-account-routes.ts';
import { explain } from './explain.ts';
import { EXPLANATION_EXAMPLE, Explanation } from './explanation-view.ts';

export interface ExplainDeps extends WriteParts {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly config: Config;
  readonly catalog: () => Catalog;
  readonly countries: Pick<CountryLookup, 'countryOf'>;
  readonly health: Pick<TargetHealth, 'availability'>;
}

/**
 * `POST /api/keys/<id>/explain/` (specification section 2): predicts the result of a call, check by check, without
 * sending or spending anything. `at` sets the time for active_hours and expires_at; credits and spend are current.
 */
export function explainRoutes(deps: ExplainDeps): FastifyPluginAsync {
  const schema: FastifySchema = {
    tags: ['Keys'],
    security: BY_ACCOUNT,
    operationId: 'explainKey',
    summary: 'Explain whether a call would be accepted',
    description:
      'Runs every check for a call with the key, without sending or spending anything. Credits, spend and limits of calls are ' +
      'the current ones. The hold is the smallest that a call of the model can have. Members do not see the ' +
      "account's balance and spend.",
    params: KeyPath,
    body: ExplainBody.schema,
    response: { 200: Explanation },
    'x-docs': {
      may: ['explain calls'],
      refusals: [...MANAGING_REFUSALS, 'key_not_found', ...BODY_REFUSALS],
      requests: EXPLAIN_EXAMPLES,
      answer: EXPLANATION_EXAMPLE,
    },
  };
  return async (app) => {
    speakJson(app);
    app.post(
      '/api/keys/:key_id/explain/',
      { schema, onRequest: beforeTheBody(deps, 'explain calls') },
      async (request) => {
        const caller = await callerOf(deps, request, 'explain calls');
        const reader = readerOf(caller);
        await keyAsked(deps.book, keyIdOf(request), reader);
        return await explainKey(deps, request, reader);
      },
    );
  };
}

/** Predicts the result of a call with the key in the path. */
async function explainKey(deps: ExplainDeps, request: FastifyRequest, reader: Reader) {
  const subject = await subjectOf(deps, reader.accountId, keyIdOf(request));
  const call = readBody(ExplainBody, request.body);
  return explain({
    compiled: compileKey(subject),
    prefix: subject.key.prefix,
    caller: explainedCaller(deps, request, call, subject),
    catalog: deps.catalog(),
    model: call.model,
    endpoint: ENDPOINTS.find(({ path }) => path === call.endpoint),
    health: deps.health,
    secret: deps.book.secret,
    isAccountHidden: !seesAll(reader),
    ...(await liveState(deps.ledger, subject)),
  });
}

/** `POST /api/admin/accounts/<id>/keys/<key id>/explain/`: the operator's version (specification section 14). */
export function adminExplainRoute(app: FastifyInstance, deps: ExplainDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'explainKeyOfAccount',
    summary: 'Explain whether a call with the key of an account would be accepted',
    description: 'Returns the answer of `/api/keys/{key_id}/explain/`.',
    params: AccountKeyPath,
    body: ExplainBody.schema,
    response: { 200: Explanation },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'key_not_found', ...BODY_REFUSALS],
      requests: EXPLAIN_EXAMPLES,
      answer: EXPLANATION_EXAMPLE,
    },
  };
  app.post('/api/admin/accounts/:account_id/keys/:key_id/explain/', { schema }, async (request) => {
    const { id } = await accountOf(deps.book, request);
    return await explainKey(deps, request, { accountId: id, onlyKeyId: undefined, owner: OPERATOR });
  });
}

/** Live record of the key. Checks the book first, so that an unknown key causes no rebuild in Redis. */
async function subjectOf({ book, ledger }: ExplainDeps, accountId: number, keyId: number): Promise<Subject> {
  const known = await book.key(accountId, keyId);
  const subject = known && (await ledger.current(accountId, keyId));
  if (subject === undefined) throw keyNotFound();
  return subject;
}

function explainedCaller(
  { config, gatekeeper, countries, ledger }: ExplainDeps,
  request: FastifyRequest,
  call: Parsed<typeof ExplainBody>,
  subject: Subject,
) {
  const { model: _model, endpoint: _endpoint, at = ledger.now(subject.key.accountId), ...asked } = call;
  const ip = asked.ip ?? parseAddress(gatekeeper.addressOf(request));
  return {
    ...asked,
    nowMs: at,
    ip,
    country: asked.country ?? (ip && countryOf(countries, ip, subject)),
    allowMissingOrigin: config.origins.allowMissing,
  };
}

/** Country of an address, if any. Throws 503 if the key blocks countries and the country data can't be loaded. */
function countryOf(
  countries: ExplainDeps['countries'],
  address: ParsedAddress,
  { key }: Subject,
): string | undefined {
  try {
    return countries.countryOf(address);
  } catch (cause) {
    if (key.blockedCountries.length === 0) return undefined;
    throw new GatewayError(
      'service_unavailable',
      'The country of the IP address could not be looked up. Try again shortly, or send country.',
      null,
      undefined,
      { cause },
    );
  }
}

async function liveState(ledger: Ledger, { key, accountLimits, accountSpendingLimits }: Subject) {
  const isLimited = hasCallLimits(key) || hasCallLimits(accountLimits);
  // Without a person, the key itself, which no limit of a member names.
  const member = key.personId === null ? key.id : { personId: key.personId };
  const [account, windows, ofKey, ofMember, limits] = await Promise.all([
    ledger.account(key.accountId),
    ledger.windows(key.accountId, [key.id, member, 'account']),
    ledger.reserved(key.accountId, key.id),
    ledger.reserved(key.accountId, member),
    isLimited ? ledger.limitStates(key.accountId, key.id) : NO_LIMIT_STATES,
  ]);
  const now = ledger.now(key.accountId);
  const [ofOwnKey, ofOwnMember, ofAccount] = windows as [Windows, Windows, Windows];
  const owners = {
    key: { windows: ofOwnKey, ...ofKey },
    member: { windows: ofOwnMember, ...ofMember },
    account: { windows: ofAccount, held: account.held, estimated: account.estimated },
  };
  const spending = ownedLimits(key, accountSpendingLimits).map((limit) => {
    const { windows: own, ...reserved } = owners[limit.of];
    const spent = spentIn(own, limit.period, periodStarts(now), now);
    return { ...limit, ...reserved, spent, hours: own.hours };
  });
  return { spending, account, limits };
}

/** The call to explain (specification section 2). */
export const ExplainBody = section(
  {
    model: required(storable(1_000), 'Name of the model that would be called.'),
    endpoint: maybe(
      oneOf(...ENDPOINTS.map(({ path }) => path)),
      'Path under /v1. Default: the first that serves the model.',
    ),
    ...ASKED_FACTS,
    at: maybe(
      shortText('must be an ISO 8601 date-time with Z or an offset', parseTimestamp, { format: 'date-time' }),
      'Time of the call, for `active_hours` and `expires_at`: ISO 8601 with `Z` or an offset. Default: now.',
    ),
  },
  { title: 'ExplainedCall', description: 'The call to check.' },
);

const EXPLAIN_EXAMPLES = {
  now: { summary: 'From here and now', value: { model: 'demo-chat' } },
  elsewhere: {
    summary: 'From elsewhere, at another time',
    value: {
      model: 'demo-chat',
      endpoint: '/v1/chat/completions',
      ip: '203.0.113.9',
      origin: 'https://app.example.com',
      country: 'DE',
      at: '2030-01-01T20:00:00Z',
    },
  },
};
