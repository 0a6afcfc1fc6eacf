import t from 'tap';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

/** An account with a key that may not manage, and spending with that key and with another. */
async function readerOf(settings: Record<string, unknown> = {}) {
  const owner = await world.account({ credits: 77, key: { name: 'Secret master' } });
  const { body } = await apiOf(world, owner.key).post<{ key: string; id: number }>('/api/keys/', {
    name: 'Reader',
    can_manage: false,
    ...settings,
  });
  await (await world.chat(owner.key)).text();
  await (await world.chat(body.key, { model: 'renamed' })).text();
  await world.settled();
  return { owner, reader: body };
}

t.test('M9: a key that may not manage sees itself only, without broken parts', async (t) => {
  await dayThatLasts();
  const { reader } = await readerOf({ spending_limit: 5, spending_period: 'daily' });
  const { page, signIn, open, faults, requests } = await openDashboard(t, world);
  await signIn(reader.key);
  await page.getByRole('heading', { level: 1, name: 'Reader' }).waitFor();
  await page.locator('.stacked svg').first().waitFor();
  const figures = page.locator('.figure');
  await page.getByText('The key you are signed in with.', { exact: true }).waitFor();
  await reads(t, figures, /Spent today1\.00until/);
  await reads(t, figures, /Remaining4\.00of 5\.00 credits/);
  await reads(t, figures, /Spent in 30 days1\.00/);
  await reads(t, figures, /Calls in 30 days10% refused/);
  await page.getByText('you see only its own calls').waitFor();
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  t.same(links.slice(0, 3), ['Home', 'Requests', 'Usage'], 'neither Keys nor Billing nor Alerts');
  const seen = [await page.content()];

  await page.getByRole('link', { name: 'Settings' }).click();
  const settings = await page.locator('.settings').textContent();
  t.match(settings, /^NameReader.*Can manageno.*imit in credits5\.00Periodday/);
  t.equal(await page.locator('main').locator('input, select, textarea').count(), 0, 'nothing to fill in');
  t.equal(await page.locator('main').getByRole('link').count(), 0, 'nor a link to a page that it has not');
  t.equal(await page.getByRole('button', { name: 'Deactivate' }).count(), 0);
  t.match(page.url(), new RegExp(`#/keys/${reader.id}$`));
  seen.push(await page.content());

  await page.getByRole('link', { name: 'Requests' }).click();
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  t.equal(await rows.count(), 1);
  seen.push(await page.content());
  t.notMatch(seen.join(), /Secret master|7[567]\.00/, 'neither another key nor the balance');

  await open('keys/999999', 'Key');
  await page.getByText("The key you signed in with can't see key 999999").waitFor();
  for (const place of ['alerts', 'explain', 'billing', 'accounts/1', 'home']) await open(place, 'Reader');
  t.equal(await page.getByRole('alert').count(), 0);
  t.same(faults, []);
  const refused = requests.filter((address) => /\/api\/account\/(alerts|$)/.test(address));
  t.same(refused, [], 'what it may not see is not asked for');
});

t.test('a key that may no longer manage gets the pages of a reader', async (t) => {
  const { owner } = await readerOf();
  const { page } = await signedIn(t, world, owner.key);
  await apiOf(world, owner.key).patch(`/api/keys/${owner.keyId}/`, { can_manage: false });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('heading', { level: 1, name: 'Secret master' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Secret master' }).waitFor();
});

t.test('and one that may by now gets the pages of the account', async (t) => {
  const { owner, reader } = await readerOf();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(reader.key);
  await page.getByRole('heading', { level: 1, name: 'Reader' }).waitFor();
  await apiOf(world, owner.key).patch(`/api/keys/${reader.id}/`, { can_manage: true });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
});
