import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ credits: 100, key: { name: 'Owner' } });
const api = apiOf(world, owner.key);
const app = await makeKey(world, owner.key, { name: 'App', spending_limit: 10, allowed_models: ['flat'] });
const spent = await makeKey(world, owner.key, {
  name: 'Spent',
  spending_limits: [{ period: 'total', credits: 1 }],
});
const refused = await makeKey(world, owner.key, { name: 'Refused', allowed_ips: ['203.0.113.0/24'] });
await makeKey(world, owner.key, {
  name: 'Old',
  description: 'in the hay',
  expires_at: '2001-01-01T00:00:00Z',
});

for (let calls = 0; calls < 2; calls++) await (await world.chat(app.key)).text();
await (await world.chat(spent.key)).text();
for (let calls = 0; calls < 5; calls++) await (await world.chat(refused.key)).text();
await world.settled();
await until('the refused calls are listed', async () => {
  const { body } = await api.get<{ calls: unknown[] }>(`/api/account/calls/?key_id=${refused.id}`);
  return body.calls.length > 0;
});

t.test('the list says what becomes of calls with each key, and fits its screen', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { width: 1_440, at: ['keys', 'Keys'] });
  for (const row of [
    /^Select App App sk-tg-\S+… Account Active 2\.00 \/ 10\.00 monthly just now 1 model Never$/,
    /Spent .* Account Limit reached 1\.00 \/ 1\.00 total/,
    /Refused .* All refused 0\.00 this month Never 1 IP/,
    /Old .* Expired .* 1 Jan 2001$/,
    /Owner Signed in Manages .* Active/,
  ]) {
    await page.getByRole('row', { name: row }).waitFor();
  }
  await page.getByText('5 keys', { exact: true }).waitFor();
  t.same(await accessibilityFaults(page), []);
  for (const width of [1_200, 1_280, 1_366, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const [wide, frame] = await Promise.all([
      page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-frame'))",
      ),
    ]);
    t.ok(Number(wide) <= 0 && Number(frame) <= 0, `${width}: nothing scrolls sideways`);
  }
});

t.test('the list is sorted by its columns, in the address', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  const names = async () =>
    (await page.getByRole('region', { name: 'Keys' }).locator('tbody th a').allTextContents()).join();
  await page.getByRole('link', { name: 'App' }).waitFor();
  t.equal(await names(), 'App,Old,Owner,Refused,Spent', 'by name at first');
  await page.getByRole('button', { name: 'Spent / limit' }).press('Enter');
  t.match(await names(), /^App,Spent,/, 'the largest first');
  t.match(page.url(), /\/keys\?sort=-spend$/);
  await page.getByRole('button', { name: 'Status' }).click();
  t.match(await names(), /^(App,Owner|Owner,App),Spent,Old,Refused$/);
  t.equal(await page.getByRole('columnheader', { name: 'Status' }).getAttribute('aria-sort'), 'ascending');
});

t.test('keys are searched and filtered by the gateway, which announces how many it found', async (t) => {
  const { page, requests } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.getByText('5 keys', { exact: true }).waitFor();
  await page.getByLabel('Search').fill('HAY');
  await page.getByRole('status').getByText('1 of 5 keys').waitFor();
  t.equal(await page.getByRole('rowheader').count(), 1);
  await page.getByLabel('Status').selectOption('limit_reached');
  await page.getByText('No results').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Status').selectOption('limit_reached');
  await page.getByRole('link', { name: 'Spent' }).waitFor();
  t.match(page.url(), /\/keys\?status=limit_reached$/);
  await page.goBack();
  await page.getByRole('status').getByText('5 keys', { exact: true }).waitFor();
  await page.getByLabel('Search').fill(app.key);
  await page.getByRole('status').getByText('1 of 5 keys').waitFor();
  const asked = requests.filter((address) => address.includes('/api/'));
  t.notMatch(asked.join(), app.key, 'a value that is searched for is never sent');
  t.ok(
    asked.every((address) => !/\/api\/keys\/($|\?(?!.*limit))/.test(address)),
    'nor are all keys downloaded',
  );
});

t.test('a key opens in a new tab by Ctrl and a click', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'App' }).click({ modifiers: ['ControlOrMeta'] });
  const tab = await opened;
  await tab.getByRole('heading', { level: 1, name: 'App' }).waitFor();
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Keys');
  await tab.close();
});

t.test('selected keys are deactivated after one question; one changed meanwhile stays', async (t) => {
  const spare = await makeKey(world, owner.key, { name: 'Spare 1' });
  await makeKey(world, owner.key, { name: 'Spare 2' });
  const { page } = await signedIn(t, world, owner.key, { at: ['keys?search=Spare', 'Keys'] });
  await page.getByLabel('Select Spare 1').check();
  await page.getByLabel('Select Spare 2').check();
  await page.getByRole('status').getByText('2 keys selected').waitFor();
  await api.patch(`/api/keys/${spare.id}/`, { description: 'changed' });
  await page.locator('.selection').getByRole('button', { name: 'Deactivate' }).click();
  const question = page.getByRole('dialog', { name: 'Deactivate 2 keys?' });
  await question.getByText('Spare 1, Spare 2').waitFor();
  await question.getByRole('button', { name: 'Deactivate' }).click();
  await question.getByText('Changed meanwhile and still active: “Spare 1”.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: /Spare 2 .*Inactive/ }).waitFor();
  await page.getByRole('row', { name: /Spare 1 .*Active/ }).waitFor();
  t.ok(
    await page.getByLabel('Select Spare 2').isDisabled(),
    'an inactive key has nothing to be selected for',
  );
});

t.test('a list of many keys comes in pages', async (t) => {
  const many = await world.account({ key: { name: 'Key 000' } });
  for (let from = 1; from <= 105; from += 35) {
    await Promise.all(
      Array.from({ length: 35 }, (_, at) =>
        makeKey(world, many.key, { name: `Key ${String(from + at).padStart(3, '0')}` }),
      ),
    );
  }
  const { page } = await signedIn(t, world, many.key, { at: ['keys', 'Keys'] });
  await page
    .getByText('100 keys on this page, and more. Sorting applies to the keys on this page.')
    .waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('status').getByText('6 keys', { exact: true }).waitFor();
  t.match(page.url(), /pages=/);
});
