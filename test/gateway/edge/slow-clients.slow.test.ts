import { test } from 'tap';
import { openRaw, type RawAnswer } from '../../helper/clients/raw-http.ts';
import { BODY, POST, startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { TEST_SERVER } from '../../helper/start/gateway-in-process.ts';

const HEAD_MS = 300;
const BODY_MS = 900;
const server = { ...TEST_SERVER, headTimeoutMs: HEAD_MS, bodyTimeoutMs: BODY_MS };
/** Node looks for late connections every 2 s. */
const CHECKED_EVERY_MS = 2_000;
/** For a loaded machine. */
const GRACE_MS = 20_000;

const SLOW: Record<string, (head: string) => string[]> = {
  'sends nothing': () => [],
  'sends line breaks only': () => ['\r\n'],
  'stops within the request line': () => ['POST /v1/chat'],
  'drips a header that never ends': (head) => [
    `${POST}${head}X-A: `,
    ...Array.from({ length: 200 }, () => 'a'),
  ],
  'drips headers': (head) => [`${POST}${head}`, ...Array.from({ length: 200 }, (_, n) => `x-${n}: a\r\n`)],
  'sends no body': (head) => [`${POST}${head}Content-Length: ${BODY.length}\r\n\r\n`],
  'drips a body': (head) => [
    `${POST}${head}Content-Length: 100\r\n\r\n`,
    ...Array.from({ length: 99 }, () => ' '),
  ],
  'drips chunks': (head) => [
    `${POST}${head}Transfer-Encoding: chunked\r\n\r\n`,
    ...Array.from({ length: 200 }, () => '1\r\n \r\n'),
  ],
  'drips the size of a chunk': (head) => [
    `${POST}${head}Transfer-Encoding: chunked\r\n\r\n`,
    ...Array.from({ length: 200 }, () => '0'),
  ],
};

/** The answer to a client that sends one piece every 50 ms, and how long it took. */
async function drip(
  url: string,
  pieces: string[],
): Promise<{ answer: RawAnswer | undefined; tookMs: number }> {
  const startedAt = performance.now();
  const connection = openRaw(url);
  const send = () => {
    const piece = pieces.shift();
    if (piece !== undefined) connection.send(piece);
  };
  send();
  const timer = setInterval(send, 50);
  const answer = await connection.next();
  await connection.closed;
  clearInterval(timer);
  return { answer, tookMs: performance.now() - startedAt };
}

test('clients that are slow with headers or body get 408 and are disconnected', async (t) => {
  const { url, head, owner, chat, provider, ledger, settled } = await startEdgeGateway(t, {
    config: { server },
  });
  const slow = Object.entries(SLOW).map(async ([what, pieces]) => {
    const { answer, tookMs } = await drip(url, pieces(head));
    t.equal(answer?.status, 408, what);
    t.match(JSON.parse(answer?.body || '{}'), { error: { code: 'request_timeout' } }, what);
    t.ok(tookMs < BODY_MS + CHECKED_EVERY_MS + GRACE_MS, `${what}: ${Math.round(tookMs)} ms`);
  });
  t.equal((await chat(owner.key)).status, 200, 'others are served meanwhile');
  await Promise.all(slow);
  t.equal(provider.requests.length, 1);
  t.equal((await chat(owner.key)).status, 200, 'and afterwards');
  await settled();
  t.match(await ledger.ledger.account(owner.accountId), { held: 0 });
});

test('a connection that is kept alive is not cut while a long answer is under way', async (t) => {
  const { url, head } = await startEdgeGateway(t, {
    config: { server },
    behave: () => ({ delayMs: BODY_MS + 2 * CHECKED_EVERY_MS }),
  });
  const connection = openRaw(url);
  connection.send(`${POST}${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`);
  t.equal((await connection.next())?.status, 200);
  connection.socket.destroy();
});
