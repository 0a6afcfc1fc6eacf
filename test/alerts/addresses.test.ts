import { test } from 'tap';
import { fullNames, resolveAddresses } from '../../src/alerts/addresses.ts';

const never = new AbortController().signal;

test('localhost is loopback, in any case and with a final dot', async (t) => {
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost']) {
    const found = await resolveAddresses(name, never);
    t.ok(found.length > 0, name);
    t.ok(
      found.every(({ address }) => address === '::1' || address.startsWith('127.')),
      name,
    );
  }
});

test('an aborted signal ends the resolution of a name that is not local', async (t) => {
  await t.rejects(resolveAddresses('receiver.invalid', AbortSignal.abort()));
});

test('a name without an address is an error', async (t) => {
  await t.rejects(resolveAddresses('receiver.invalid', AbortSignal.timeout(5_000)));
});

test('a short name is tried in the search domains first, as the system does', async (t) => {
  const cluster =
    'nameserver 10.0.0.10\nsearch ns.svc.cluster.local svc.cluster.local. # all\noptions ndots:5\n';
  t.same(fullNames('receiver', cluster), [
    'receiver.ns.svc.cluster.local',
    'receiver.svc.cluster.local',
    'receiver',
  ]);
  t.equal(fullNames('receiver.ns', cluster).length, 3);
  t.same(fullNames('hooks.example.com', 'search example.org\n'), [
    'hooks.example.com',
    'hooks.example.com.example.org',
  ]);
  t.same(fullNames('receiver', ''), ['receiver']);
});
