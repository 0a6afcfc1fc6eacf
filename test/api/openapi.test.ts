import t, { type Test } from 'tap';
import { CALL_OPERATIONS } from '../../src/api/openapi/call-operations.ts';
import { ERRORS } from '../../src/domain/errors.ts';
import { operationsOf, readDocument } from '../helper/documented/api-document.ts';
import { CALLS } from '../helper/documented/documented-calls.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const response = await fetch(`${world.url}/openapi.json`);
const document = await readDocument(world.url);
const operations = operationsOf(document);

const TAGS = ['Keys', 'Account', 'People', 'Models', 'Operator', 'Operations'];

t.test('the document is OpenAPI 3.1 in JSON', async (t) => {
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  t.match(document.openapi, /^3\.1\./);
  t.match(document.info, {
    title: 'Tollgate',
    version: /^\d+\.\d+\.\d+/,
    description: /credits/,
    license: { identifier: 'Apache-2.0' },
  });
});

t.test('every route that is served is described, and called by a test', async (t) => {
  for (const { name, operationId } of operations) {
    const help = name.includes(' /v1/') ? 'describe it in src/api/openapi' : 'give its schema an operationId';
    t.ok(operationId, `${name} is served and not described: ${help}`);
    const call = `${operationId} (${name}) is not called: say how in test/helper/documented/documented-calls.ts`;
    if (operationId) t.ok(CALLS[operationId], call);
  }
});

t.test('every described or called operation is served', async (t) => {
  const names = operations.map(({ name }) => name);
  for (const name of Object.keys(CALL_OPERATIONS)) t.ok(names.includes(name), `${name} is served`);
  const ids = operations.map(({ operationId }) => operationId);
  for (const id of Object.keys(CALLS)) t.ok(ids.includes(id), `${id} is in the document`);
  t.equal(new Set(ids).size, ids.length, 'no operationId stands twice');
});

t.test('tags come in the order of their readers, each with a description', async (t) => {
  t.same(
    document.tags.map(({ name }) => name),
    TAGS,
  );
  for (const { name, description } of document.tags) t.ok(description, name);
  const order = operations.map(({ tags: [tag = ''] = [] }) => TAGS.indexOf(tag));
  t.same(order, [...order].sort(), 'the paths come in that order, too');
});

t.test('every error code has an example under its status', async (t) => {
  const description = String(document.info.description);
  const shown = new Set<string>();
  for (const { name, responses } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      for (const code of Object.keys(content?.['application/json']?.examples ?? {})) {
        const known = Object.entries(ERRORS).find(([one]) => one === code);
        if (!known) continue;
        // A wrong current password leaves the session as it is.
        const other =
          name === 'PATCH /api/session/person/' && code === 'invalid_credentials' ? 403 : undefined;
        t.equal(status, String(other ?? known[1][0]), `${name}: ${code}`);
        shown.add(code);
      }
    }
  }
  t.same(
    Object.keys(ERRORS).filter((code) => !shown.has(code) && !description.includes(`\`${code}\``)),
    [],
  );
});

t.test('every answer but those of a provider names x-request-id', async (t) => {
  for (const { name, responses } of operations) {
    for (const [status, { headers }] of Object.entries(responses)) {
      t.ok(headers?.['x-request-id'], `${name}: ${status}`);
    }
  }
});

t.test(
  'answers of model calls name the headers of limits, but for a 401 and a failure of the gateway',
  async (t) => {
    const withLimits = (operationId: string, header: string) =>
      Object.entries(operations.find((operation) => operation.operationId === operationId)?.responses ?? {})
        .filter(([, { headers }]) => headers?.[header])
        .map(([status]) => status);
    const expected = ['200', '4XX', '5XX', '400', '402', '403', '404', '429'].sort();
    const all = withLimits('createChatCompletion', 'x-ratelimit-remaining-tokens');
    t.same(all.filter((status) => expected.includes(status)).sort(), expected);
    t.notOk(all.includes('401') || all.includes('503'));
    t.ok(withLimits('createMessage', 'anthropic-ratelimit-tokens-remaining').includes('429'));
    t.same(withLimits('listKeys', 'x-ratelimit-remaining-tokens'), []);
  },
);

t.test('every body that is sent or answered has an example, but for answers of providers', async (t) => {
  for (const { name, requestBody, responses } of operations) {
    const { 200: answer, ...others } = responses;
    const ours = '4XX' in responses ? others : { answer, ...others };
    const bodies = [requestBody, ...Object.values(ours)].flatMap((body) =>
      Object.entries(body?.content ?? {}),
    );
    for (const [type, { examples }] of bodies) t.ok(examples ?? type.endsWith('/*'), `${name}: ${type}`);
  }
});

t.test('a body is required, but for a rotation', async (t) => {
  const optional = operations.filter(({ requestBody }) => requestBody && !requestBody.required);
  t.same(optional.map(({ operationId }) => operationId).sort(), [
    'rotateKey',
    'rotateKeyOfAccount',
    'rotateOwnKey',
  ]);
});

t.test('every parameter and every field is explained', async (t) => {
  for (const { name, parameters = [] } of operations) {
    for (const parameter of parameters) t.ok(parameter.description, `${name}: ${parameter.name}`);
  }
  for (const [name, schema] of Object.entries(document.components.schemas ?? {})) explained(t, name, schema);
});

/** Constants need no description, nor does anything made from a named schema. */
function explained(t: Test, at: string, schema: Record<string, unknown>): void {
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, typeof schema>)) {
    const here = `${at}.${name}`;
    const items = field.items as typeof schema | undefined;
    const isNamed = '$ref' in field || (items !== undefined && '$ref' in items);
    const says = field.description ?? ('const' in field || isNamed || field.properties);
    t.ok(says, `${here} has a description`);
    explained(t, here, field);
  }
}

t.test('every path parameter is declared, and every security scheme exists', async (t) => {
  for (const { name, path, parameters = [], security } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = parameters.filter((parameter) => parameter.in === 'path');
    t.same(
      declared.map((parameter) => parameter.name),
      inPath,
      name,
    );
    t.ok(security, `${name} says who may call`);
    for (const scheme of (security ?? []).flatMap((needed) => Object.keys(needed))) {
      t.ok(scheme in (document.components.securitySchemes ?? {}), `${name}: ${scheme}`);
    }
  }
});

t.test('nothing of how the document is made is left in it', async (t) => {
  t.notMatch(JSON.stringify(document), /x-docs|~kind|"\$id"/);
});
