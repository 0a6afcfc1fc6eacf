import type { Test } from 'tap';
import { ERRORS, type ErrorCode } from '../../../src/domain/errors.ts';
import { ADMIN_TOKEN, type InProcessGateway, type TestAccount } from '../start/gateway-in-process.ts';
import {
  type ApiDocument,
  type Described,
  faultsOf,
  operationsOf,
  readDocument,
  type Validate,
  validatorOf,
} from './api-document.ts';
import { CALLS, type DocumentedCall } from './documented-calls.ts';
import { startDocumentedGateway } from './documented-gateway.ts';
import { bodiesOf, credential, type DocumentedRequest, send } from './documented-request.ts';
import { isProvokedElsewhere, PROVOKED, UNPROVOKED } from './provoked-refusals.ts';

const OPERATIONS_AT_ONCE = 6;
/** Statuses on a machine so busy that Redis, the journal or the provider is late. */
const LATE = [503, 504];
const LATE_MAX = 20;

interface Stage {
  readonly world: InProcessGateway;
  readonly caller: TestAccount;
  readonly document: ApiDocument;
  readonly validate: Validate;
}

/**
 * Tests the operations of a tag in /openapi.json on a running gateway. Sends every example with every credential of the
 * operation, provokes every documented refusal, and validates all answers.
 */
export async function testDocumentedOperations(t: Test, tag: string): Promise<void> {
  const world = await startDocumentedGateway(t);
  const document = await readDocument(world.url);
  const stage = { world, caller: await world.account(), document, validate: validatorOf(document) };
  const operations = operationsOf(document).filter(({ tags }) => tags?.includes(tag));
  t.ok(operations.length > 0, `the document has operations of the tag ${tag}`);
  // In parallel, because most of the time is spent waiting for a provider that does not answer.
  t.jobs = OPERATIONS_AT_ONCE;
  const started = operations.flatMap((operation) => {
    const { name, operationId = '' } = operation;
    const calls = CALLS[operationId] ?? [];
    return [
      t.test(`${name} answers as it is described`, { buffered: true }, (t) =>
        answers(t, stage, operation, calls),
      ),
      t.test(`${name} refuses as it is described`, { buffered: true }, (t) =>
        refuses(t, stage, operation, calls),
      ),
    ];
  });
  await Promise.all(started);
}

async function answers(t: Test, stage: Stage, operation: Described, calls: readonly DocumentedCall[]) {
  for (const call of calls) {
    for (const alternative of securityOf(operation)) {
      for (const [name, body] of bodiesOf(operation)) {
        const request = await requestOf(stage, call, alternative, body);
        const label = `${Object.keys(alternative)[0] ?? 'nobody'}, ${name} ${call.query ?? ''}`;
        const response = await sendInTime(stage.world.url, operation, request);
        const refusal = response.ok ? '' : await response.clone().text();
        t.equal(Math.floor(response.status / 100), 2, `${label}: ${response.status} ${refusal}`);
        t.same(await faultsOf(stage.document, stage.validate, operation, response), [], label);
      }
    }
  }
}

async function refuses(t: Test, stage: Stage, operation: Described, calls: readonly DocumentedCall[]) {
  const [call] = calls;
  const codes = codesOf(operation);
  for (const code of codes.filter((code) => !PROVOKED[code])) {
    t.ok(
      UNPROVOKED.has(code),
      `${code}: say in test/helper/documented/provoked-refusals.ts how it is provoked`,
    );
  }
  if (call) await Promise.all(codes.map((code) => refusesWith(t, stage, operation, call, code)));
}

async function refusesWith(
  t: Test,
  stage: Stage,
  operation: Described,
  call: DocumentedCall,
  code: ErrorCode,
): Promise<void> {
  const provoke = PROVOKED[code];
  if (!provoke || isProvokedElsewhere(operation, code)) return;
  const [[, body] = []] = bodiesOf(operation);
  const accepted = await requestOf(stage, call, securityOf(operation).at(-1) ?? {}, body);
  const provoked = await provoke(accepted, stage, operation);
  const response = await sendInTime(stage.world.url, operation, provoked, ERRORS[code][0]);
  const copy = response.clone();
  t.equal(response.status, ERRORS[code][0], `${code}: status`);
  t.same(await faultsOf(stage.document, stage.validate, operation, response), [], code);
  const { error } = (await copy.json()) as { error?: { code?: string } };
  t.equal(error?.code, code);
}

/** Repeats a request that gets a status of a busy machine, unless that is the status that is `meant`. */
async function sendInTime(
  url: string,
  operation: Described,
  request: DocumentedRequest,
  meant?: number,
): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await send(url, operation, request);
    const { status } = response;
    if (status === meant || !LATE.includes(status) || tries === LATE_MAX) return response;
    await response.body?.cancel();
  }
}

/** The alternative credentials of an operation; a single empty one if it needs none. */
function securityOf({ security = [] }: Described): readonly Record<string, unknown>[] {
  return security.length > 0 ? security : [{}];
}

async function requestOf(
  { world, caller }: Stage,
  call: DocumentedCall,
  alternative: Record<string, unknown>,
  body: DocumentedRequest['body'],
): Promise<DocumentedRequest> {
  const [scheme] = Object.keys(alternative);
  return {
    path: (await call.path?.(world, caller)) ?? {},
    ...(call.query ? { query: call.query } : {}),
    headers: { ...credential(scheme, caller.key, ADMIN_TOKEN), ...call.headers },
    ...(body ? { body } : {}),
  };
}

/** Error codes of which an operation shows an example. */
function codesOf({ responses }: Described): ErrorCode[] {
  return Object.entries(responses)
    .filter(([status]) => /^[45]\d\d$/.test(status))
    .flatMap(([, { content }]) => Object.keys(content?.['application/json']?.examples ?? {}))
    .filter((name): name is ErrorCode => name in ERRORS);
}
