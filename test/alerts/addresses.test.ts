import { test } from 'tap';
import { resolveAddresses } from '../../src/alerts/addresses.ts';

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
