import { test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import {
  BODY,
  CHUNKED,
  LENGTH,
  POST,
  type Row,
  refuseRows,
  startEdgeGateway,
} from '../../helper/start/edge-gateway.ts';

const lengths = (...values: string[]) => values.map((value) => `Content-Length: ${value}\r\n`).join('');
const coded = (header: string): Row[1] => {
  return (head) => `${POST}${head}${header}\r\n\r\n${CHUNKED}`;
};
const plain = (header: string): Row[1] => {
  return (head) => Buffer.from(`${POST}${head}${header}\r\n${LENGTH}\r\n${BODY}`, 'latin1');
};
const chunks = (body: string): Row[1] => {
  return (head) => `${POST}${head}Transfer-Encoding: chunked\r\n\r\n${body}`;
};
const withLength = (...values: string[]): Row[1] => {
  return (head) => `${POST}${head}${lengths(...values)}\r\n${BODY}`;
};

const CONFLICTING: Row[] = [
  ['length and chunks', coded(LENGTH.trim().concat('\r\nTransfer-Encoding: chunked')), 400],
  ['chunks and length', coded(`Transfer-Encoding: chunked\r\n${LENGTH.trim()}`), 400],
  ['two lengths', withLength('30', '5'), 400],
  ['the same length twice', withLength('30', '30'), 400],
  ['a list of lengths', withLength('30, 30'), 400],
  ['a length with a sign', withLength('+30'), 400],
  ['a negative length', withLength('-1'), 400],
  ['a hexadecimal length', withLength('0x1e'), 400],
  ['an empty length', withLength(''), 400],
  ['a length beyond 64 bits', withLength('99999999999999999999'), 400],
  ['a length beyond the limit', withLength('1000000000000000'), 413, 'body_too_large'],
  ['a coding before the chunks', coded('Transfer-Encoding: gzip, chunked'), 400],
  ['a coding after the chunks', coded('Transfer-Encoding: chunked, identity'), 400],
  ['chunked twice', coded('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'), 400],
  ['another coding', coded('Transfer-Encoding: identity'), 400],
  ['xchunked', coded('Transfer-Encoding: xchunked'), 400],
  ['quoted chunked', coded('Transfer-Encoding: "chunked"'), 400],
  ['a space before the colon', coded('Transfer-Encoding : chunked'), 400],
  ['a vertical tab', coded('Transfer-Encoding:\x0bchunked'), 400],
  ['a folded line', coded('Transfer-Encoding:\r\n chunked'), 400],
  ['a second line without CR', coded('X-A: b\nTransfer-Encoding: chunked'), 400],
  [
    'chunks in HTTP/1.0',
    (head) => `${POST.replace('1.1', '1.0')}${head}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
    400,
  ],
];

const CHUNKS: Row[] = [
  ['a size that is no number', chunks(`zz\r\n${BODY}\r\n0\r\n\r\n`), 400],
  ['a negative size', chunks(`-1e\r\n${BODY}\r\n0\r\n\r\n`), 400],
  ['a size beyond 64 bits', chunks(`fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`), 400],
  ['line feeds alone', chunks(`1e\n${BODY}\n0\n\n`), 400],
  ['endless extensions', chunks(`1e;a=${'b'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`), 413, 'body_too_large'],
  ['endless trailers', chunks(`1e\r\n${BODY}\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`), 431],
];

const HEADERS: Row[] = [
  ['a bare CR in a value', plain('X-A: b\rSet-Cookie: c'), 400],
  ['a NUL in a value', plain('X-A: b\0c'), 400],
  ['a DEL in a value', plain('X-A: b\x7fc'), 400],
  ['a folded value', plain('X-A: b\r\n c'), 400],
  ['an empty name', plain(': b'), 400],
  ['a space in a name', plain('X A: b'), 400],
  ['two credentials', plain('Authorization: Bearer other'), 400],
  ['a header of 20,000 bytes', plain(`X-A: ${'a'.repeat(20_000)}`), 431],
  ['3,000 headers', plain(Array.from({ length: 3_000 }, (_, n) => `a${n}: b`).join('\r\n')), 431],
  [
    'a request line of 20,000 bytes',
    (head) => `POST /v1/chat/completions?${'a'.repeat(20_000)} HTTP/1.1\r\n${head}${LENGTH}\r\n${BODY}`,
    431,
  ],
];

test('a request whose end could be seen in two places is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), CONFLICTING);
});

test('chunks that break the grammar are refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), CHUNKS);
});

test('headers that break the grammar, or are too large, are refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), HEADERS);
});

test('chunks as they should be are read, and their extensions and trailers do not go upstream', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  const body = `1e;a=b\r\n${BODY}\r\n0\r\nAuthorization: Bearer trailer\r\n\r\n`;
  for (const coding of ['chunked', 'CHUNKED', '\tchunked']) {
    const answer = await sendRaw(url, `${POST}${head}Transfer-Encoding: ${coding}\r\n\r\n${body}`);
    t.equal(answer?.status, 200, JSON.stringify(coding));
  }
  for (const { body, headers } of provider.requests) {
    t.equal(body.toString(), BODY);
    t.match(headers, { authorization: 'Bearer upstream-secret', 'content-length': String(BODY.length) });
    t.notOk(headers['transfer-encoding']);
  }
});
