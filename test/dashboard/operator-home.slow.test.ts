import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();
const accounts: number[] = [];

t.test('the operator sees charges, refusals by code, and who runs dry', async (t) => {
  const { page, open, faults } = await signedIn(t, world, ADMIN_TOKEN);
  const dry = page.getByRole('region', { name: 'Accounts that run dry' });
  const card = page.locator('section', { hasText: 'Accounts that run dry' });
  await reads(t, card, /There are no accounts yet\. See all balances/, 'a gateway without accounts');
  await page.getByText('Charges appear here by day').waitFor();
  const cost = page.locator('.figure', { hasText: 'Cost today' });
  await reads(t, cost, /no calls/, 'no price is missing where nothing was called');
  const large = await world.account({ credits: 3, email: 'large@example.com' });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await reads(t, card, /No account spent credits in the last seven days/, 'a gateway without calls');
  await (await world.chat(large.key)).text();
  await (await world.chat(large.key, { model: 'unknown' })).text();
  const dryOwner = await world.account({ credits: 1, email: 'dry@example.com' });
  await (await world.chat(dryOwner.key)).text();
  accounts.push(large.accountId, dryOwner.accountId);
  await world.settled();
  await until('the refusal is recorded', async () => {
    const { body } = await apiOf(world, large.key).get<{ calls: unknown[] }>(
      '/api/account/calls/?result=refused',
    );
    return body.calls.length === 1;
  });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await dry.waitFor();
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  t.same(links, ['Home', 'Accounts', 'Requests', 'Usage', 'Models', 'Providers', 'Health']);
  const figure = page.locator('.figure', { hasText: 'Charged today' });
  await reads(t, figure, /Charged today2\.002 calls, 0 failed/);
  await page.getByRole('region', { name: 'Largest accounts' }).getByText('large@example.com').waitFor();
  await reads(t, dry, /dry@example\.com0\.00drylarge@example\.com2\.00about 2 days/);
  await page.getByRole('region', { name: 'Refusals by code' }).getByText('model_not_found').click();
  await page.waitForURL(/#\/requests\?result=refused&code=model_not_found/);
  await open('accounts', 'Accounts');
  const row = page.getByRole('region', { name: 'Accounts' }).getByRole('row', { name: /large@example\.com/ });
  await reads(t, row, /2\.001\.00about 2 days/);
  t.same(faults, []);
});

t.test('once every balance lasts, Home says so; the health of every part is shown in words', async (t) => {
  for (const id of accounts) {
    await world.api('POST', `/api/admin/accounts/${id}/credits/`, ADMIN_TOKEN, { amount: 100 });
  }
  const { page, signIn, open, faults } = await openDashboard(t, world);
  await signIn(ADMIN_TOKEN);
  const card = page.locator('section', { hasText: 'Accounts that run dry' });
  await reads(t, card, /every balance lasts longer/, 'accounts that have enough');
  await open('health', 'Health');
  const rows = page.getByRole('region', { name: 'Health' });
  await reads(t, rows.getByRole('row', { name: /^Redis/ }), /Redis(OK|At risk)Redis answers/);
  await reads(t, rows.getByRole('row', { name: /^Book/ }), /BookOKThe database answers/);
  await reads(t, rows.getByRole('row', { name: /^Version/ }), /Tollgate \d+\.\d+\.\d+/);
  t.same(faults, []);
});
