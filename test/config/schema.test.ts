import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { test } from 'tap';
import { parse } from 'yaml';
import { CONFIG_FILE_SCHEMA, configSchemaText } from '../../src/config/schema.ts';
import type { JsonSchema } from '../../src/domain/shape.ts';

const SHIPPED = readFileSync('config/gateway.yaml', 'utf8');
const validate = new Ajv({ allErrors: true, strict: true, strictRequired: false }).compile(
  CONFIG_FILE_SCHEMA,
);

/** The paths that the schema refuses; empty if it accepts the file. */
function refused(file: unknown): string[] {
  validate(file);
  return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))];
}

const UPSTREAMS = { a: { url: 'https://a.example', format: 'openai' } };
const withModel = (model: unknown) => ({ upstreams: UPSTREAMS, models: { m: model } });
const PRICED = { upstream: 'a', category: 'text', price: { input: 1 } };

test('the schema beside the shipped file is that of the code', async (t) => {
  t.equal(
    readFileSync('config/gateway.schema.json', 'utf8'),
    configSchemaText(),
    'npx tollgate config schema > config/gateway.schema.json brings it in step',
  );
});

test('the shipped file names its schema, and the schema accepts it', async (t) => {
  t.match(SHIPPED, /^# yaml-language-server: \$schema=\.\/gateway\.schema\.json\n/);
  t.same(refused(parse(SHIPPED)), []);
});

test('the schema accepts every config that the reader accepts', async (t) => {
  t.same(refused({ upstreams: {}, models: {} }), []);
  t.same(refused(withModel(PRICED)), []);
  t.same(refused(withModel({ ...PRICED, free: false })), []);
  t.same(refused(withModel({ upstream: 'a', category: 'video', free: true })), []);
  t.same(refused(withModel({ upstream: 'a', category: 'text' })), [], 'the price list may have its price');
  t.same(refused(parse(`{ server: { port: "\${MY_PORT}" }, upstreams: {}, models: {} }`)), []);
});

for (const [what, file, path] of [
  ['an unknown section', { upstreams: {}, models: {}, color: 'red' }, ''],
  ['no models', { upstreams: {} }, ''],
  ['a port beyond all', { server: { port: 70_000 }, upstreams: {}, models: {} }, '/server/port'],
  [
    'a word for a number',
    { limits: { imageTokens: 'many' }, upstreams: {}, models: {} },
    '/limits/imageTokens',
  ],
  [
    'an unknown format',
    { upstreams: { a: { url: 'https://a', format: 'grpc' } }, models: {} },
    '/upstreams/a/format',
  ],
  ['an upstream without an address', { upstreams: { a: { format: 'openai' } }, models: {} }, '/upstreams/a'],
  ['an unknown category', withModel({ ...PRICED, category: 'song' }), '/models/m/category'],
  ['a negative price', withModel({ ...PRICED, price: { input: -1 } }), '/models/m/price/input'],
  ['an unknown unit', withModel({ ...PRICED, price: { tokens: 1 } }), '/models/m/price'],
  ['a price of nothing', withModel({ ...PRICED, price: {} }), '/models/m/price'],
  ['both price and free', withModel({ ...PRICED, free: true }), '/models/m'],
] as const) {
  test(`the schema refuses ${what}`, async (t) => {
    t.ok(refused(file).includes(path), refused(file).join(' '));
  });
}

test('every field of the schema is described', async (t) => {
  const silent: string[] = [];
  const look = (schema: JsonSchema, path: string) => {
    for (const [key, field] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
      if (typeof field.description !== 'string') silent.push(`${path}.${key}`);
      look(field, `${path}.${key}`);
    }
    if (typeof schema.additionalProperties === 'object')
      look(schema.additionalProperties as JsonSchema, `${path}.*`);
  };
  look(CONFIG_FILE_SCHEMA, '');
  t.same(silent, []);
});
