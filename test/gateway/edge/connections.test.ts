import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'tap';
import { until } from '../../helper/check/until.ts';
import { openRaw, sendRaw } from '../../helper/clients/raw-http.ts';
import { BODY, LENGTH, POST, startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { TEST_SERVER } from '../../helper/start/gateway-in-process.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const EXPECT = 'Expect: 100-continue\r\n';

test('Expect: 100-continue is met when the body is wanted, and the call goes on', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  const connection = openRaw(url);
  connection.send(`${POST}${head}${LENGTH}${EXPECT}\r\n`);
  t.equal((await connection.next())?.status, 100);
  connection.send(BODY);
  t.equal((await connection.next())?.status, 200);
  t.notOk((await provider.request(0)).headers.expect);
  connection.socket.destroy();
});

test('Expect: 100-continue of a call that is refused by its head is not met: no body need be sent', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t, {
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000 } },
  });
  t.equal((await sendRaw(url, `${POST}Host: a\r\n${LENGTH}${EXPECT}\r\n`))?.status, 401);
  t.equal((await sendRaw(url, `${POST}${head}Content-Length: 1001\r\n${EXPECT}\r\n`))?.status, 413);
  const elsewhere = POST.replace('chat/completions', 'files');
  t.equal((await sendRaw(url, `${elsewhere}${head}${LENGTH}${EXPECT}\r\n`))?.status, 404);
  t.equal(provider.requests.length, 0);
});

test('any other Expect gets 417', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  const answer = await sendRaw(url, `${POST}${head}${LENGTH}Expect: 200-ok\r\n\r\n${BODY}`);
  t.equal(answer?.status, 417);
  t.match(JSON.parse(answer?.body ?? ''), { error: { code: 'invalid_request' } });
  t.equal(provider.requests.length, 0);
});

test('Connection cannot remove headers that the gateway adds or checks', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  const named = 'Connection: authorization, content-length, host, x-request-id, accept-encoding\r\n';
  t.equal((await sendRaw(url, `${POST}${head}${named}${LENGTH}\r\n${BODY}`))?.status, 200);
  const { headers, body } = await provider.request(0);
  t.match(headers, { authorization: 'Bearer upstream-secret', 'accept-encoding': 'identity' });
  t.equal(body.toString(), BODY);
});

test('pipelined requests are answered in their order', async (t) => {
  const { url, head } = await startEdgeGateway(t);
  const connection = openRaw(url);
  connection.send(`${POST}${head}${LENGTH}\r\n${BODY}${HEALTH}`);
  t.match(await connection.next(), { status: 200, body: /usage/ });
  t.match(await connection.next(), { status: 200, body: /^{"status":"ok","version":"[0-9.]+"}$/ });
  connection.socket.destroy();
});

test('a request that is refused before its body was read does not make a request of that body', async (t) => {
  const { url, provider } = await startEdgeGateway(t);
  const connection = openRaw(url);
  connection.send(`${POST}Host: a\r\nContent-Length: 100000\r\n\r\n${HEALTH}`);
  t.equal((await connection.next())?.status, 401);
  t.equal(await connection.closed, '');
  t.equal(provider.requests.length, 0);
});

test('a client that is refused while it sends its body is not reset: it could not read the answer then', async (t) => {
  const { url, provider } = await startEdgeGateway(t);
  const connection = openRaw(url, { allowHalfOpen: true });
  const { socket } = connection;
  const ended = once(socket, 'end');
  const part = `${HEALTH}${'x'.repeat(10_000)}`;
  connection.send(`${POST}Host: a\r\nContent-Length: ${part.length}\r\n\r\n`);
  t.equal((await connection.next())?.status, 401);
  await ended;
  for (let n = 0; n < 3; n += 1) await new Promise((resolve) => socket.write(part, resolve));
  socket.end();
  t.equal(await connection.closed, '', 'nothing that comes after it is answered');
  t.notOk(socket.errored);
  t.equal(provider.requests.length, 0);
});

test('a client that is refused and goes on sending for ever is cut', async (t) => {
  const { url } = await startEdgeGateway(t);
  const connection = openRaw(url, { allowHalfOpen: true });
  connection.send(`${POST}Host: a\r\nContent-Length: 100000\r\n\r\n`);
  t.equal((await connection.next())?.status, 401);
  const drip = setInterval(() => connection.send('x'), 50);
  t.teardown(() => clearInterval(drip));
  await connection.closed;
  t.ok(connection.socket.errored, 'the connection was reset');
});

test('garbage behind a call is answered behind it: the call keeps its own answer', async (t) => {
  const { url, head, owner, book, settled } = await startEdgeGateway(t);
  const connection = openRaw(url);
  connection.send(`${POST}${head}${LENGTH}\r\n${BODY}GARBAGE\r\n\r\nGARBAGE\r\n\r\n`);
  t.match(await connection.next(), { status: 200, body: /usage/ });
  t.match(await connection.next(), { status: 400, body: /invalid_request/ });
  t.equal(await connection.closed, '');
  await settled();
  t.match(await book.ledger({ accountId: owner.accountId, limit: 1 }), [
    { status: 200, outcome: 'complete' },
  ]);
});

test('data behind a call with Connection: close is ignored', async (t) => {
  const { url, head } = await startEdgeGateway(t);
  const connection = openRaw(url);
  connection.send(`${POST}${head}Connection: close\r\n${LENGTH}\r\n${BODY}${HEALTH}`);
  t.match(await connection.next(), { status: 200, body: /usage/ });
  t.equal(await connection.closed, '');
});

test('a client that keeps its half of a refused connection open, and goes on sending, is cut', async (t) => {
  const { url } = await startEdgeGateway(t);
  const connection = openRaw(url, { allowHalfOpen: true });
  connection.send('GARBAGE\r\n\r\n');
  t.equal((await connection.next())?.status, 400);
  const drip = setInterval(() => connection.send('x'), 50);
  t.teardown(() => clearInterval(drip));
  await connection.closed;
  t.ok(connection.socket.errored, 'the connection was reset');
});

test('a client that ends its sending side behind its call has left: no answer, and one row', async (t) => {
  const { url, head, owner, provider, book, settled } = await startEdgeGateway(t, {
    behave: () => ({ stallAfter: 'nothing' }),
  });
  const connection = openRaw(url, { allowHalfOpen: true });
  connection.send(`${POST}${head}${LENGTH}\r\n${BODY}`);
  const { ended } = await provider.request(0);
  connection.socket.end();
  t.equal(await connection.closed, '');
  t.equal(await ended, 'broken', 'the upstream is cancelled');
  await settled();
  t.match(await book.ledger({ accountId: owner.accountId, limit: 1 }), [
    { status: 499, outcome: 'client_left' },
  ]);
});

test('a body that ends before its Content-Length reaches no upstream, and the process lives', async (t) => {
  const { url, head, owner, provider, chat } = await startEdgeGateway(t);
  const connection = openRaw(url, { allowHalfOpen: true });
  connection.send(`${POST}${head}Content-Length: 100\r\n\r\n${BODY}`);
  connection.socket.end();
  await connection.closed;
  t.equal(provider.requests.length, 0);
  t.equal((await chat(owner.key)).status, 200);
});

test('a client that sends its whole oversized body before reading gets 413, not a reset', async (t) => {
  const { url, head } = await startEdgeGateway(t, {
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000 } },
  });
  const pieces = 3;
  const piece = 'x'.repeat(10_000);
  const errors: Error[] = [];
  const upload = async () => {
    const { socket, send, next, closed } = openRaw(url, { allowHalfOpen: true });
    socket.on('error', (error) => errors.push(error));
    send(`${POST}${head}Content-Length: ${pieces * piece.length}\r\n\r\n`);
    for (let sent = 0; sent < pieces; sent++) {
      // Together longer than one second, after which the gateway cuts the connection of any other refused client.
      if (sent > 0) await sleep(700);
      send(piece);
    }
    const answer = await next();
    t.equal(answer?.status, 413);
    t.equal(answer?.headers.get('connection'), 'close');
    socket.end();
    t.equal(await closed, '');
  };
  await Promise.all([upload(), upload()]);
  t.same(errors, []);
});

test('an account has a few such connections, and its others are cut after a second', async (t) => {
  const { url, head } = await startEdgeGateway(t, {
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000 } },
  });
  const connections = Array.from({ length: 6 }, () => openRaw(url, { allowHalfOpen: true }));
  let open = connections.length;
  for (const { send, closed } of connections) {
    void closed.then(() => open--);
    send(`${POST}${head}Content-Length: 30000\r\n\r\nx`);
  }
  for (const connection of connections) t.equal((await connection.next())?.status, 413);
  await until('two to be cut', () => {
    for (const { send } of connections) send('x');
    return open === 4;
  });
  for (const { socket } of connections) socket.destroy();
});
