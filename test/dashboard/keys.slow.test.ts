import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ credits: 100, key: { name: 'Owner' } });
const app = await makeKey(world, owner.key, { name: 'App', spending_limit: 10, allowed_models: ['flat'] });
const refused = await makeKey(world, owner.key, { name: 'Refused', allowed_ips: ['203.0.113.0/24'] });

for (let calls = 0; calls < 2; calls++) await (await world.chat(app.key)).text();
await (await world.chat(refused.key)).text();
await world.settled();
await until('the refused call is listed', async () => {
  const path = `/api/account/calls/?key_id=${refused.id}`;
  const { body } = await apiOf(world, owner.key).get<{ calls: unknown[] }>(path);
  return body.calls.length === 1;
});

t.test('the table of keys is sorted by its columns, in the address, a line each', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { width: 1_440, at: ['keys', 'Keys'] });
  const rows = page.getByRole('region', { name: 'Keys' }).locator('tbody tr');
  const names = async () => (await rows.locator('.key-title').allTextContents()).join();
  await rows.first().waitFor();
  t.equal(await names(), 'Refused,App,Owner', 'the newest first');
  for (const row of await rows.all()) t.ok(Number((await row.boundingBox())?.height) <= 48, 'one line');

  await page.getByRole('button', { name: 'Name' }).click();
  t.equal(await names(), 'App,Owner,Refused');
  t.match(page.url(), /#\/keys\?sort=name$/);
  t.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'ascending');
  await page.getByRole('button', { name: 'Spend / limit' }).press('Enter');
  t.equal(await names(), 'App,Refused,Owner'.split(',').sort(byApp).join(), 'the largest first');
  await page.goBack();
  t.equal(await names(), 'App,Owner,Refused', 'Back undoes it');
});

function byApp(one: string, other: string): number {
  if (one === 'App') return -1;
  if (other === 'App') return 1;
  return one < other ? -1 : 1;
}

t.test('B12: a key whose calls are all refused is not "Never used"', async (t) => {
  const { page, open } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  const badge = page.getByRole('row', { name: /Refused/ }).getByText('All refused');
  t.match(await badge.getAttribute('title'), /^1 call refused in the last 30 days/);
  await page.getByLabel('Used', { exact: true }).selectOption('no');
  await page.getByText('1 of 3 keys').waitFor();
  t.equal(await badge.count(), 0, 'it is in use');
  await open(`keys/${refused.id}`, 'Refused');
  await page.getByText('All refused').waitFor();
});

t.test('selected keys are deactivated after one question; one changed meanwhile stays', async (t) => {
  const spare = await makeKey(world, owner.key, {
    name: 'Spare 1',
    allowed_models: ['flat', 'tokens'],
    allowed_ips: ['10.0.0.0/8'],
    spending_limit: 10,
  });
  await makeKey(world, owner.key, {
    name: 'Busy',
    allowed_models: ['flat'],
    allowed_ips: ['10.0.0.0/8'],
    blocked_countries: ['GB'],
    rpm_limit: 5,
  });
  const other = await makeKey(world, owner.key, { name: 'Spare 2' });
  const { page, open, faults } = await signedIn(t, world, owner.key, { at: ['keys?search=spare', 'Keys'] });
  await page.getByRole('button', { name: 'Select all 2' }).press('Enter');
  await page.getByText('2 keys selected').waitFor();
  await page.getByLabel('Select Spare 2').press('Space');
  await page.getByText('1 key selected').waitFor();
  await page.getByLabel('Select Spare 2').press('Space');
  await apiOf(world, owner.key).patch(`/api/keys/${other.id}/`, { name: 'Spare 2, changed' });
  await page.getByRole('button', { name: 'Deactivate', exact: true }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Deactivate 2 keys?' });
  await reads(t, dialog, /Spare 2, Spare 1/);
  await dialog.getByRole('button', { name: 'Deactivate' }).press('Enter');
  await page.getByText('Changed meanwhile and still active: “Spare 2”.').waitFor();
  t.equal((await world.chat(spare.key)).status, 401);
  t.equal((await world.chat(other.key)).status, 200);
  await page.getByRole('dialog', { name: 'Deactivate 1 key?' }).getByText('Spare 2, changed').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).press('Enter');
  await page.getByText('1 key deactivated.').waitFor();
  t.equal((await world.chat(other.key)).status, 401);
  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Owner' }).waitFor();
  t.equal(await page.getByLabel('Select Owner').count(), 0, 'the key of the session is not one of them');
  const table = page.getByRole('region', { name: 'Keys' });
  const cell = (name: string) => table.getByRole('cell', { name, exact: true });
  await reads(t, cell('2 models, spending limit, 1 IP'), /^2 models · 1 IP/, 'the limit has its own column');
  const busy = cell('1 model, 1 IP, 1 blocked country, 5 requests a minute');
  await reads(t, busy, /^1 model · 3 more/, 'the first of many');
  const beyond = await table.evaluate(
    (frame: { scrollWidth: number; clientWidth: number }) => frame.scrollWidth - frame.clientWidth,
  );
  t.equal(beyond, 0, 'the restrictions fit at 1,280 pixels');
  t.same(faults, []);
});

t.test("a key's page begins with its spend and calls", async (t) => {
  const { page, faults } = await signedIn(t, world, owner.key, { at: [`keys/${app.id}`, 'App'] });
  await page.locator('.stacked svg').first().waitFor();
  const figures = page.locator('.figure');
  await reads(t, figures, /Spent this month2\.00 \/ 10\.0020% of the limit\. Resets in \d/);
  await reads(t, figures, /Spent in 30 days2\.00/);
  await reads(t, figures, /Calls in 30 days20 refused, 0 failed/);
  await page.getByRole('button', { name: 'Settings' }).press('Enter');
  await page.locator('h2:focus', { hasText: 'Settings' }).waitFor();
  const calls = page.getByRole('region', { name: 'Last calls' }).locator('tbody tr');
  await calls.nth(1).waitFor();
  t.equal(await calls.count(), 2);
  await calls.first().getByRole('link').click();
  await page.getByRole('dialog').waitFor();
  t.match(page.url(), new RegExp(`#/requests\\?key_id=${app.id}&request=`));
  await page.goto(`${world.url}/dashboard/#/keys/${app.id}?section=rate-limits`);
  await page.reload();
  const limits = page.locator('h2:focus', { hasText: 'Rate limits' });
  const isAtTop = async () => Number((await limits.boundingBox())?.y) < 100;
  await until('a new tab shows the section that its address names', isAtTop);
  t.same(faults, []);
});

t.test('B9: a new key manages only where that is switched on', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  t.equal(await page.getByLabel('Can manage keys').isChecked(), false);
  await page.getByLabel('Name', { exact: true }).fill('For an app');
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Create key' }).click();
  t.match((await sent).postDataJSON(), { can_manage: false });
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'For an app' }).waitFor();
});

t.test('B3: the models that a key may call are counted and come first', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${app.id}`, 'App'] });
  await page.getByText('1 chosen').waitFor();
  const models = page.locator('[name=allowed_models]');
  await until('the catalog is there', async () => (await models.count()) > 1);
  t.equal(await models.first().getAttribute('value'), 'flat');
  const choices = page.getByRole('group', { name: 'Models', exact: true });
  const groups = await choices.locator('legend').allTextContents();
  t.same(groups, ['Models', 'Chosen', 'test', 'test-anthropic'], 'the others are grouped by provider');
  const ofProvider = choices.getByRole('group', { name: 'test-anthropic', exact: true });
  t.equal(await ofProvider.getByRole('checkbox').count(), 2);
  const renamed = choices.getByRole('group', { name: 'test', exact: true }).getByLabel('renamed text');
  await renamed.focus();
  await page.keyboard.press('Space');
  await page.getByText('2 chosen').waitFor();
  t.equal(await renamed.isChecked(), true, 'it keeps its place while it is ticked');
  const search = page.getByLabel('Search models');
  if (await search.isVisible()) {
    await search.fill('renamed');
    await until('one is found', async () => (await models.count()) === 1);
  }
  const whole =
    '(() => { const list = document.querySelector("#field-allowed_models"); return list.scrollHeight <= list.clientHeight; })()';
  t.equal(await page.evaluate(whole), true, 'nothing is hidden in it');
});

t.test('B4: a failed create shows the fault above the bar, focused, and the bar leads to each', async (t) => {
  const { page } = await signedIn(t, world, owner.key, {
    width: 1_440,
    height: 900,
    at: ['keys/new', 'Create key'],
  });
  await page.getByLabel('Name', { exact: true }).fill('Faulty');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('10.0.0.0/33');
  await page.getByLabel('Webhook URL').fill('nonsense');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('#field-allowed_ips:focus').waitFor();
  const bar = page.locator('.save-bar');
  const sections = page.getByRole('navigation', { name: 'Sections' });
  const titles = await page.locator('.setting-group h2').allTextContents();
  t.same(await sections.getByRole('link').allTextContents(), titles, 'every section has a link');
  for (const title of ['Webhook', 'Rate limits']) {
    await sections.getByRole('link', { name: title }).press('Enter');
    await page.locator('h2:focus', { hasText: title }).waitFor();
    t.ok(await sections.getByRole('link', { name: 'Basics' }).isVisible());
  }
  const top = Number((await page.locator('h2:focus').boundingBox())?.y);
  t.ok(top >= 0 && top < 100, 'the section begins at the top of the view');
  await page.keyboard.press('Tab');
  await page.locator('[name=rpm_limit]:focus').waitFor();
  t.match(page.url(), /#\/keys\/new\?section=rate-limits$/);
  t.equal(await page.getByLabel('Webhook URL').inputValue(), 'nonsense', 'what was typed is still there');
  t.equal(
    await sections.getByRole('link', { name: 'Network' }).getAttribute('href'),
    '#/keys/new?section=network',
  );
  await bar.getByRole('button', { name: 'Webhook URL' }).click();
  await page.locator('#field-webhook_url:focus').waitFor();
  const isAbove = async (id: string) => {
    const [words, top] = [await page.locator(id).boundingBox(), await bar.boundingBox()];
    return words !== null && top !== null && words.y >= 0 && words.y + words.height <= top.y + 1;
  };
  await until('its message is seen', () => isAbove('#field-webhook_url-error'));
  await bar.getByRole('button', { name: 'Allowed IP addresses' }).click();
  await until('so is that of the other', () => isAbove('#field-allowed_ips-error'));
  t.pass('both are seen');
});
