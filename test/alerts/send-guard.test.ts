import type { LookupAddress } from 'node:dns';
import { test } from 'tap';
import { isPublicAddress, type Resolve } from '../../src/alerts/addresses.ts';
import { type Post, send } from '../../src/alerts/send.ts';
import { compileRanges } from '../../src/domain/addresses.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';

const post: Omit<Post, 'url'> = {
  headers: {},
  body: '{}',
  timeoutMs: 10_000,
  allowPrivateNetworks: false,
  signal: new AbortController().signal,
};

const PUBLIC: LookupAddress = { address: '8.8.8.8', family: 4 };
const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };

/** Spellings of 127.0.0.1, 0.0.0.0, 169.254.169.254 and ::1 that a URL can carry. */
const LITERALS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  '①②⑦.0.0.1',
  '0',
  '0.0.0.0',
  '169.254.169.254',
  '2852039166',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
];

for (const host of LITERALS) {
  test(`http://${host} is blocked, nothing connects`, async (t) => {
    const receiver = await startReceiver();
    t.teardown(receiver.close);
    t.match(await send({ ...post, url: `http://${host}:${receiver.port}/` }), {
      status: 'blocked',
      httpStatus: null,
    });
    t.match(await send({ ...post, url: `https://${host}:${receiver.port}/` }), { status: 'blocked' });
    t.equal(receiver.connections(), 0);
  });
}

for (const host of ['localhost', 'LOCALHOST.', 'receiver.localhost']) {
  test(`${host} is blocked`, async (t) => {
    const receiver = await startReceiver();
    t.teardown(receiver.close);
    t.match(await send({ ...post, url: `http://${host}:${receiver.port}/` }), { status: 'blocked' });
    t.equal(receiver.connections(), 0);
  });
}

test('a name with one address that is not public is blocked, at any place in the list', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const url = `http://receiver.test:${receiver.port}/`;
  const mapped = { address: '::ffff:127.0.0.1', family: 6 };
  for (const addresses of [[LOOPBACK], [PUBLIC, LOOPBACK], [LOOPBACK, PUBLIC], [PUBLIC, mapped]]) {
    t.match(await send({ ...post, url }, async () => addresses), { status: 'blocked', httpStatus: null });
  }
  t.equal(receiver.connections(), 0);
});

test('DNS rebinding: a name that was public when it was checked and is private at connect is blocked', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const answers = [PUBLIC, LOOPBACK];
  const rebinding: Resolve = async () => answers.splice(0, 1);
  const [checked] = await rebinding('receiver.test', post.signal);
  t.ok(checked && isPublicAddress(checked.address));
  t.match(await send({ ...post, url: `http://receiver.test:${receiver.port}/` }, rebinding), {
    status: 'blocked',
  });
  t.equal(receiver.connections(), 0);
});

test('a name is resolved once, and only checked addresses are connected to', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  let resolutions = 0;
  const counting: Resolve = async () => {
    resolutions += 1;
    return [LOOPBACK];
  };
  const url = `http://receiver.test:${receiver.port}/`;
  t.match(await send({ ...post, url, allowPrivateNetworks: true }, counting), { status: 'delivered' });
  t.equal(resolutions, 1);
  t.equal(receiver.requests[0]?.headers.host, `receiver.test:${receiver.port}`);
});

test('allowPrivateNetworks lets loopback pass, as a literal and as a name', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  for (const host of ['127.0.0.1', '2130706433', 'localhost']) {
    const url = `http://${host}:${receiver.port}/`;
    t.match(await send({ ...post, url, allowPrivateNetworks: true }), { status: 'delivered' }, host);
  }
});

test('`allow` lets the receivers in it pass, by address and by name, and nothing beside them', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const allow = compileRanges(['127.0.0.1/32', '10.1.2.0/24']);
  const status = async (host: string, found = [LOOPBACK]) => {
    const url = `http://${host}:${receiver.port}/`;
    return (await send({ ...post, url, allow }, async () => found)).status;
  };
  t.equal(await status('127.0.0.1'), 'delivered');
  t.equal(await status('receiver.test'), 'delivered');
  t.equal(await status('[::ffff:127.0.0.1]'), 'delivered', 'mapped into IPv6, it is the same address');
  const before = receiver.connections();
  t.equal(await status('127.0.0.2'), 'blocked');
  t.equal(await status('[::1]'), 'blocked');
  t.equal(await status('169.254.169.254'), 'blocked');
  t.equal(await status('receiver.test', [LOOPBACK, { address: '10.1.3.1', family: 4 }]), 'blocked');
  t.equal(receiver.connections(), before);
});
