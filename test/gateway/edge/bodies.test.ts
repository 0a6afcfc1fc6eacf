import { gzipSync } from 'node:zlib';
import { test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import { BODY, POST, type Row, refuseRows, startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';
import { startMediaGateway } from '../../helper/start/media-gateway.ts';

const JSON_TYPE = 'Content-Type: application/json\r\n';
const sent = (body: string | Buffer, more = ''): Row[1] => {
  return (head) =>
    Buffer.concat([
      Buffer.from(`${POST}${head}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
      Buffer.from(body),
    ]);
};
const toKeys = (body: string | Buffer, more = ''): Row[1] => {
  return (head) =>
    Buffer.concat([
      Buffer.from(
        `POST /api/keys/ HTTP/1.1\r\n${head}${JSON_TYPE}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
      ),
      Buffer.from(body),
    ]);
};
const MEDIA = 'unsupported_media_type';
const gzipped = gzipSync(BODY);

const COMPRESSED: Row[] = [
  ...['gzip', 'GZIP', 'deflate', 'br', 'zstd', 'x-gzip', 'gzip, identity', 'identity, gzip', 'aes128gcm'].map(
    (coding): Row => [coding, sent(gzipped, `Content-Encoding: ${coding}\r\n`), 415, MEDIA],
  ),
  ['plain, called gzip', sent(BODY, 'Content-Encoding: gzip\r\n'), 415, MEDIA],
  ['gzip that nothing announces', sent(gzipped), 400, 'invalid_json'],
  ['gzip at the keys API', toKeys(gzipSync('{"name":"a"}'), 'Content-Encoding: gzip\r\n'), 415, MEDIA],
];

const bytes = (...values: number[]) =>
  Buffer.concat([Buffer.from('{"model":"flat","a":"'), Buffer.from(values), Buffer.from('"}')]);
const UTF8: Row[] = [
  ['a byte that is never UTF-8', sent(bytes(0xff)), 400, 'invalid_json'],
  ['half a character', sent(bytes(0xe2, 0x82)), 400, 'invalid_json'],
  ['an overlong spelling', sent(bytes(0xc0, 0xaf)), 400, 'invalid_json'],
  ['a surrogate', sent(bytes(0xed, 0xa0, 0x80)), 400, 'invalid_json'],
  ['beyond the last character', sent(bytes(0xf4, 0x90, 0x80, 0x80)), 400, 'invalid_json'],
  ['UTF-16', sent(Buffer.from(BODY, 'utf16le')), 400, 'invalid_json'],
  ['a byte order mark', sent(`\ufeff${BODY}`), 400, 'invalid_json'],
  ['invalid UTF-8 at the keys API', toKeys(Buffer.from([0x22, 0xff, 0x22])), 400, 'invalid_json'],
];

const NOT_JSON: Row[] = [
  ['nothing', sent(''), 400, 'invalid_json'],
  ['white space', sent('  '), 400, 'invalid_json'],
  ['a list', sent('[]'), 400, 'invalid_json'],
  ['a number', sent('1'), 400, 'invalid_json'],
  ['null', sent('null'), 400, 'invalid_json'],
  ['a comma too many', sent('{"model":"flat",}'), 400, 'invalid_json'],
  ['single quotes', sent("{'model':'flat'}"), 400, 'invalid_json'],
  ['NaN', sent('{"model":"flat","n":NaN}'), 400, 'invalid_json'],
  ['two objects', sent(`${BODY}${BODY}`), 400, 'invalid_json'],
  ['an object that is cut off', sent(BODY.slice(0, -1)), 400, 'invalid_json'],
  ['a NUL behind it', sent(`${BODY}\0`), 400, 'invalid_json'],
];

/** Names that every object has by inheritance. */
const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

test('a compressed body gets 415, because the gateway cannot check it', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), COMPRESSED);
});

test('Content-Encoding: identity is no encoding, and does not go upstream', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  for (const coding of ['identity', 'Identity', '']) {
    t.equal((await sendRaw(url, sent(BODY, `Content-Encoding: ${coding}\r\n`)(head)))?.status, 200);
  }
  for (const { headers } of provider.requests) t.notOk('content-encoding' in headers);
});

test('a body that is not UTF-8 is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), UTF8);
});

test('a body that is not one JSON object is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), NOT_JSON);
});

test('a model that is called like an inherited property does not exist', async (t) => {
  const world = await startEdgeGateway(t);
  const rows = INHERITED.flatMap((name): Row[] => [
    [name, sent(`{"model":"${name}","messages":[]}`), 404, 'model_not_found'],
    [
      `${name}, escaped`,
      sent(`{"model":"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"}`),
      404,
      'model_not_found',
    ],
  ]);
  await refuseRows(t, world, rows);
  for (const name of INHERITED) {
    const response = await world.api('GET', `/v1/models/${name}`, world.owner.key);
    t.equal(response.status, 404, name);
  }
});

test('a model that is named by inheritance only is not named', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), [
    ['in __proto__', sent('{"__proto__":{"model":"flat"},"messages":[]}'), 400, 'model_required'],
    ['in constructor', sent('{"constructor":{"prototype":{"model":"flat"}}}'), 400, 'model_required'],
  ]);
});

test('fields that are called like inherited properties pass as they came, and change nothing here', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  const body = `{"model":"flat","messages":[],"__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"polluted":1}}}`;
  t.equal((await sendRaw(url, sent(body)(head)))?.status, 200);
  t.equal((await provider.request(0)).body.toString(), body);
  t.notOk('polluted' in {});
});

test('inherited names in queries, headers and forms are names like others', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const inherited = Object.fromEntries(INHERITED.map((name) => [name.toLowerCase(), 'x']));
  t.equal((await world.chat(key, {}, inherited)).status, 200, 'headers');
  const query = INHERITED.map((name) => `${name}=1&${name}[x]=1`).join('&');
  const answer = await world.api('GET', `/api/account/ledger/?${query}`, key);
  t.match(await answer.json(), { error: { code: 'invalid_field', param: INHERITED[0] } }, 'query');
  const form = new FormData();
  for (const name of INHERITED) form.append(name, 'x');
  form.append('model', 'picture');
  form.append('image', new Blob(['x']), '__proto__');
  t.equal((await world.post(key, '/v1/images/edits', form)).status, 200, 'form');
  t.notOk('x' in {});
});

test('inherited names are no fields of the keys and operator APIs, and valid names of models', async (t) => {
  const { api, owner } = await startEdgeGateway(t);
  for (const name of INHERITED) {
    // As text: an object literal would set the prototype.
    const body = JSON.parse(`{"name":"a","${name}":{"is_active":false}}`);
    t.equal((await api('POST', '/api/keys/', owner.key, JSON.stringify(body))).status, 400, name);
    t.equal((await api('POST', '/api/admin/accounts/', ADMIN_TOKEN, `{"${name}":1}`)).status, 400, name);
  }
  const made = await api('POST', '/api/keys/', owner.key, { name: '__proto__', allowed_models: INHERITED });
  t.equal(made.status, 201);
  const { key } = (await made.json()) as { key: string };
  const refused = await api('POST', '/v1/chat/completions', key, { model: 'flat', messages: [] });
  t.match(await refused.json(), { error: { code: 'model_not_allowed' } });
});
