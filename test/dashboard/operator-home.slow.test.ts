import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();

t.test('a new operator is led to a provider, an account and a markup', async (t) => {
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN);
  const steps = page.locator('.steps');
  await reads(t, steps, /Create an account and invite its owner/);
  await page.getByText('Nothing needs your attention').waitFor();
  await reads(
    t,
    page.locator('.figure', { hasText: 'Cost today' }),
    /no calls/,
    'no price is missing without calls',
  );
  await page.getByText('No calls reached a provider in 24 hours.').waitFor();
  t.same(faults, []);
});

t.test('the operator sees charges, failing providers, refusals by code, and who runs dry', async (t) => {
  const large = await world.account({ credits: 100, email: 'large@example.com' });
  const dry = await world.account({ credits: 1, email: 'dry@example.com' });
  for (const model of ['flat', 'flat', 'unknown']) await (await world.chat(large.key, { model })).text();
  for (let calls = 0; calls < 3; calls++) await (await world.chat(dry.key)).text();
  await world.settled();
  for (const [{ key }, calls] of [
    [large, 1],
    [dry, 2],
  ] as const) {
    await until('the refusals are recorded', async () => {
      const { body } = await apiOf(world, key).get<{ total: number }>(
        '/api/account/calls/summary/?result=refused',
      );
      return body.total === calls;
    });
  }
  const { page, open, faults } = await signedIn(t, world, ADMIN_TOKEN);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await reads(t, attention, /“dry@example\.com” has too few credits: 2 calls refused/);
  t.equal(
    await attention.getByRole('link', { name: 'Top up' }).first().getAttribute('href'),
    `/dashboard/operator/accounts/${dry.accountId}/home`,
  );
  await reads(
    t,
    page.locator('.figure', { hasText: 'Charged today' }),
    /Charged today3\.003 calls, 0 failed/,
  );
  await reads(t, page.getByRole('region', { name: 'Errors by provider' }), /test0%0%/);
  const accounts = page.getByRole('region', { name: 'Accounts by spend' }).getByRole('row');
  await reads(t, accounts.nth(1), /large@example\.com22\.00/, 'who spends most comes first');
  t.same(await accessibilityFaults(page), []);
  await page.getByRole('region', { name: 'Refusals by code' }).getByText('model_not_found').click();
  await page.waitForURL(/operator\/requests\?result=refused&code=model_not_found&range=24h/);
  await open('home', 'Home');
  t.same(faults, []);
});

t.test('each card of the operator fails alone', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  const failure = {
    error: { message: 'The book is out of reach.', code: 'service_unavailable', param: null },
  };
  await page.route('**/api/admin/usage/**', (route) => route.fulfill({ status: 503, json: failure }));
  await signIn(ADMIN_TOKEN);
  await page.getByRole('alert').getByText('The book is out of reach.').first().waitFor();
  await reads(t, page.getByRole('region', { name: 'Refusals by code' }), /insufficient_credits2/);
  await page.getByRole('region', { name: 'Needs attention' }).waitFor();
  t.equal(await page.getByRole('alert').count(), 2, 'the sums of money, and those of accounts');
});
