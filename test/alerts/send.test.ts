import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { test } from 'tap';
import type { Resolve } from '../../src/alerts/addresses.ts';
import { type Post, send } from '../../src/alerts/send.ts';
import { TEST_CERTIFICATE } from '../helper/fixtures/test-certificate.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';

const post: Omit<Post, 'url'> = {
  headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1_1' },
  body: '{"event":"low_credits"}',
  timeoutMs: 10_000,
  allowPrivateNetworks: true,
  signal: new AbortController().signal,
};

const toLoopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

test('a 2xx answer is a delivery', async (t) => {
  const receiver = await startReceiver({ respond: (_request, response) => response.writeHead(204).end() });
  t.teardown(receiver.close);
  t.match(await send({ ...post, url: `${receiver.url}?token=a%20b` }), {
    status: 'delivered',
    httpStatus: 204,
  });
  t.match(receiver.requests, [
    { method: 'POST', path: '/hook?token=a%20b', body: post.body, headers: { 'webhook-id': 'msg_1_1' } },
  ]);
  t.equal(receiver.requests[0]?.headers['content-length'], String(post.body.length));
});

test('interim answers that nobody asked for, and a head of 60 KiB, come before a delivery', async (t) => {
  const receiver = await startReceiver({
    respond: (_request, response) => {
      response.writeContinue();
      response.writeContinue();
      response.writeProcessing();
      response.writeHead(200, { 'x-long': 'a'.repeat(60 * 1024) }).end();
    },
  });
  t.teardown(receiver.close);
  t.match(await send({ ...post, url: receiver.url }), { status: 'delivered', httpStatus: 200 });
});

for (const statusCode of [301, 302, 303, 307, 308]) {
  test(`redirect ${statusCode} is a failure and is not followed`, async (t) => {
    const target = await startReceiver();
    const receiver = await startReceiver({
      respond: (_request, response) => response.writeHead(statusCode, { location: target.url }).end(),
    });
    t.teardown(target.close);
    t.teardown(receiver.close);
    t.match(await send({ ...post, url: receiver.url }), { status: 'failed', httpStatus: statusCode });
    t.equal(target.connections(), 0);
  });
}

for (const statusCode of [400, 408, 429, 500, 503]) {
  test(`answer ${statusCode} is a failure after exactly one POST`, async (t) => {
    const receiver = await startReceiver({
      respond: (_request, response) => response.writeHead(statusCode, { 'retry-after': '0' }).end(),
    });
    t.teardown(receiver.close);
    t.match(await send({ ...post, url: receiver.url }), { status: 'failed', httpStatus: statusCode });
    t.equal(receiver.requests.length, 1);
  });
}

test('a connection that is cut instead of an answer is a failure after exactly one POST', async (t) => {
  const receiver = await startReceiver({ respond: (request) => request.socket.destroy() });
  t.teardown(receiver.close);
  t.match(await send({ ...post, url: receiver.url }), { status: 'failed', httpStatus: null, error: 'reset' });
  t.equal(receiver.requests.length, 1);
});

test('a refused connection is a failure', async (t) => {
  const receiver = await startReceiver();
  await receiver.close();
  t.match(await send({ ...post, url: receiver.url }), {
    status: 'failed',
    httpStatus: null,
    error: 'refused',
  });
});

test('a name that does not resolve, and a URL that is none, are failures', async (t) => {
  const noName: Resolve = () => Promise.reject(new Error('not found'));
  t.match(await send({ ...post, url: 'http://receiver.test/' }, noName), {
    status: 'failed',
    error: 'dns',
  });
  t.match(await send({ ...post, url: 'http://receiver.test/' }, async () => []), {
    status: 'failed',
    error: 'dns',
  });
  t.match(await send({ ...post, url: 'no url' }), { status: 'failed' });
  t.match(await send({ ...post, url: 'ftp://127.0.0.1/' }), { status: 'failed' });
});

test('an answer that is not HTTP fails', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-none\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  t.match(await send({ ...post, url: `http://127.0.0.1:${port}/` }), {
    status: 'failed',
    httpStatus: null,
    error: 'protocol',
  });
  t.match(await send({ ...post, url: `https://127.0.0.1:${port}/` }), { status: 'failed', error: 'tls' });
});

test('the connection is closed after the answer: none is kept for the next receiver', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  await send({ ...post, url: receiver.url });
  await send({ ...post, url: receiver.url });
  t.equal(receiver.connections(), 2);
  t.equal(receiver.requests[0]?.headers.connection, 'close');
});

test('a receiver that takes the POST and never answers is a timeout', async (t) => {
  const receiver = await startReceiver({ respond: () => {} });
  t.teardown(receiver.close);
  const result = await send({ ...post, url: receiver.url, timeoutMs: 200 });
  t.match(result, { status: 'timeout', httpStatus: null, error: 'timeout' });
  t.ok(result.durationMs >= 199, `${result.durationMs} ms`);
  t.equal(receiver.requests.length, 1);
});

test('the time counts from the resolution of the name', async (t) => {
  const silent: Resolve = () => new Promise(() => {});
  const result = await send({ ...post, url: 'http://receiver.test/', timeoutMs: 200 }, silent);
  t.match(result, { status: 'timeout', httpStatus: null });
});

test('name resolution is cancelled when the time is over', async (t) => {
  let told = false;
  const cancellable: Resolve = (_name, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        told = true;
        reject(new Error('cancelled'));
      });
    });
  t.match(await send({ ...post, url: 'http://receiver.test/', timeoutMs: 50 }, cancellable), {
    status: 'timeout',
  });
  t.ok(told);
});

test('headers that drip without an end are a timeout', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const result = await send({ ...post, url: `http://127.0.0.1:${port}/`, timeoutMs: 200 });
  t.match(result, { status: 'timeout', httpStatus: null });
});

test('2xx headers are a delivery though the body never ends, and its connection is cut', async (t) => {
  const cut = Promise.withResolvers<void>();
  const receiver = await startReceiver({
    respond: (_request, response) => {
      response.writeHead(200).write('.');
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => {
        clearInterval(drip);
        cut.resolve();
      });
    },
  });
  t.teardown(receiver.close);
  const result = await send({ ...post, url: receiver.url });
  await cut.promise;
  t.match(result, { status: 'delivered', httpStatus: 200 });
});

test('a body without measure is cut after the first 64 KiB or so', async (t) => {
  const written = Promise.withResolvers<number>();
  const receiver = await startReceiver({
    respond: (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const fill = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.writeHead(200).on('drain', fill);
      response.on('close', () => written.resolve(response.socket?.bytesWritten ?? 0));
      fill();
    },
  });
  t.teardown(receiver.close);
  t.match(await send({ ...post, url: receiver.url }), { status: 'delivered', httpStatus: 200 });
  // Data in the kernel's buffers on both sides counts as written, so the bound is loose.
  t.ok((await written.promise) < 32 * 1024 * 1024);
});

test('giving up rejects at any stage of the POST', async (t) => {
  const receiver = await startReceiver({ respond: () => {} });
  t.teardown(receiver.close);
  const giveUp = new AbortController();
  const sending = send({ ...post, url: receiver.url, signal: giveUp.signal });
  await receiver.next();
  giveUp.abort(new Error('stopping'));
  await t.rejects(sending, { message: 'stopping' });
  await t.rejects(send({ ...post, url: receiver.url, signal: AbortSignal.abort(new Error('stopped')) }), {
    message: 'stopped',
  });
  t.equal(receiver.requests.length, 1);
});

test('a certificate that nobody vouches for is a failure, and no POST is sent', async (t) => {
  const receiver = await startReceiver({ tls: TEST_CERTIFICATE });
  t.teardown(receiver.close);
  const url = `https://receiver.test:${receiver.port}/`;
  t.match(await send({ ...post, url }, toLoopback), {
    status: 'failed',
    httpStatus: null,
    error: 'certificate',
  });
  const plain = await send({ ...post, url: `http://127.0.0.1:${receiver.port}/` });
  t.match(plain, { status: 'failed', error: /^(protocol|reset)$/ });
  t.equal(receiver.requests.length, 0);
});

test('TLS is verified even where the environment says that it is not', async (t) => {
  const receiver = await startReceiver({ tls: TEST_CERTIFICATE });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    return receiver.close();
  });
  const url = `https://receiver.test:${receiver.port}/`;
  t.match(await send({ ...post, url }, toLoopback), { status: 'failed', httpStatus: null });
  t.equal(receiver.requests.length, 0);
});

test('HTTPS with a trusted certificate is delivered; for another name it is not', async (t) => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, TEST_CERTIFICATE.cert]);
  const receiver = await startReceiver({ tls: TEST_CERTIFICATE });
  t.teardown(() => {
    setDefaultCACertificates(before);
    return receiver.close();
  });
  const at = (host: string) => send({ ...post, url: `https://${host}:${receiver.port}/` }, toLoopback);
  t.match(await at('receiver.test'), { status: 'delivered', httpStatus: 200 });
  t.match(await at('other.test'), { status: 'failed', httpStatus: null });
  t.equal(receiver.requests.length, 1);
});
