import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { AccountPatch, AdminAccountPatch, Credits, NewAccount } from '../../src/api/account/account-view.ts';
import { ExplainBody } from '../../src/api/explain/explain-route.ts';
import { KeyPatch, NewKey } from '../../src/domain/key-settings.ts';
import { Rotation } from '../../src/domain/rotation.ts';
import { type Reader, readBody } from '../../src/domain/shape.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import fc from '../helper/suite/fast-check.ts';

/**
 * The description once allowed values that the routes refuse: an amount of 0, a threshold of 0.0000001, any text as a
 * webhook_url. This test gives the edge values of each field to both.
 */
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

type Field = { readonly [Keyword: string]: unknown };

function takes(parse: (value: unknown) => unknown): (value: unknown) => boolean {
  return (value) => {
    try {
      parse(value);
      return true;
    } catch {
      return false;
    }
  };
}

const NUMBERS = [0, -0, 1e-7, 9.99e-7, 1e-6, -1e-7, -1e-6, -1, 0.5, 1, 1e9, 8.5e9, 8.5e9 + 1, 1e300];
const TEXTS = [
  '',
  ' ',
  'x',
  ' x',
  'x ',
  'a b',
  'a\nb',
  'a\tb',
  '\n',
  '\u0000',
  'a\u0000',
  '\u007f',
  '\u0085',
  'é',
  '🦊',
  '\u00a0',
  '\ufeff',
  'hello',
  'https://',
  'https:example.com',
  'https://example.com',
  'HTTP://EXAMPLE.com/a?b#c',
  'https://u:p@example.com/',
  'https://@example.com/',
  'ftp://example.com/',
  'https://exam ple.com',
  'https://example.com/a b',
  'https://example.com\\a',
  '//example.com',
  'javascript:alert(1)',
  '10.0.0.1',
  '10.0.0.0/8',
  '10.0.0.0/',
  '::1',
  '2001:db8::/32',
  '::ffff:10.0.0.1',
  'fe80::1%eth0',
  '10.0.0.1 ',
  'example.com',
  '*.example.com',
  'https://*.example.com',
  'https://a@b.c',
  'https://a.example/path',
  'localhost:3000',
  'null',
  'DE',
  'de',
  'D',
  'DEU',
  '1A',
  '08:00-18:00',
  '22:00-06:00',
  '08:00-24:00',
  '24:00-08:00',
  '8:00-9:00',
  'always',
  'a@b',
  'a@',
  '@b',
  'a@b@c',
  'a b@c',
  'a@b\u0000',
  '2030-01-01T00:00:00Z',
  '2030-01-01',
  'tomorrow',
  'text',
  'daily',
  'demo-chat',
  '/v1/responses',
  '/v1/nothing',
];
const OTHERS = [null, true, false, [], {}, ['x'], [1], [null], [[]], 'a'.repeat(3_000)];
/** Texts as long as the field allows and one character longer, of characters of one and of two UTF-16 units. */
const atLength = ({ maxLength }: Field): string[] =>
  typeof maxLength === 'number'
    ? [maxLength, maxLength + 1].flatMap((length) => ['a', '🦊'].map((one) => one.repeat(length)))
    : [];

function valuesOf(field: Field): unknown[] {
  const items = (field.items ?? {}) as Field;
  const texts = [...TEXTS, ...atLength(field)];
  const lists = [...TEXTS, ...atLength(items)].map((text) => [text]);
  return [...NUMBERS, ...texts, ...OTHERS, ...(field.type === 'array' ? lists : [])];
}

/**
 * Rules that a schema cannot state, or not so that every validator understands them. The page states them, and the
 * route refuses.
 */
const BEYOND_SCHEMAS: ReadonlySet<string> = new Set([
  'allowed_ips',
  'allowed_origins',
  'blocked_countries',
  'ip',
  'country',
]);

/** Every body, and its required fields. */
const BODIES: readonly (readonly [shape: Reader<unknown>, needed: object])[] = [
  [KeyPatch, {}],
  [NewKey, { name: 'x' }],
  [Rotation, {}],
  [ExplainBody, { model: 'x' }],
  [NewAccount, { email: 'owner@example.com' }],
  [AccountPatch, {}],
  [AdminAccountPatch, {}],
  [Credits, { amount: 1 }],
];

/** Name and schema of each field, and whether the route takes a value for it. */
const FIELDS = BODIES.flatMap(([shape, needed]) =>
  Object.entries(shape.schema.properties as Record<string, Field>).map(
    ([name, schema]) =>
      [name, schema, takes((value) => readBody(shape, { ...needed, [name]: value }))] as const,
  ),
);

t.test('the route accepts every value that the description of a field allows', async (t) => {
  for (const [name, schema, isTaken] of FIELDS) {
    const isDescribed = ajv.compile(schema);
    for (const value of valuesOf(schema)) {
      const shown = `${name} ${JSON.stringify(value)?.slice(0, 60)}`;
      if (isDescribed(value) && !BEYOND_SCHEMAS.has(name))
        t.ok(isTaken(value), `described, so taken: ${shown}`);
    }
  }
});

t.test('the description of a field allows every value that the route accepts', async (t) => {
  // The route trims names and accepts times that RFC 3339 does not: accepting more than the description says harms
  // nobody.
  const wider = new Set(['name', 'expires_at', 'at']);
  for (const [name, schema, isTaken] of FIELDS.filter(([name]) => !wider.has(name))) {
    const isDescribed = ajv.compile(schema);
    for (const value of valuesOf(schema)) {
      if (isTaken(value))
        t.ok(isDescribed(value), `taken, so described: ${name} ${JSON.stringify(value)?.slice(0, 60)}`);
    }
  }
});

t.test('route and description accept the same characters', async (t) => {
  const texts = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed());
  for (const [name, schema, isTaken] of FIELDS.filter(([, { type }]) => type === 'string')) {
    if (BEYOND_SCHEMAS.has(name) || name === 'name' || name === 'webhook_url') continue;
    const isDescribed = ajv.compile(schema);
    // The route refuses more characters in an e-mail address than the schema: \p{C} is not only the control characters.
    const agree = (text: string) =>
      !isDescribed(text) || isTaken(text) || (name === 'email' && /\p{C}/u.test(text));
    fc.assert(fc.property(texts, agree));
  }
  t.pass();
});

const world = await startGatewayInProcess(t);

t.test('background matches its description, or is refused', async (t) => {
  const { key } = await world.account();
  const send = async (background: unknown) => {
    const body = { model: 'flat', input: 'x', background };
    const response = await world.api('POST', '/v1/responses', key, body);
    const { error } = (await response.json()) as { error?: { param?: string } };
    return [response.status, error?.param];
  };
  for (const value of [0, '', true, 1, 'false', [], {}]) t.same(await send(value), [400, 'background']);
  for (const value of [false, null]) t.equal((await send(value))[0], 200);
});
