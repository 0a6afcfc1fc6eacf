import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import type { Role } from '../../src/domain/roles.ts';
import { apiOf } from '../helper/clients/api.ts';
import {
  type Dashboard,
  keysOf,
  makeKey,
  openDashboard,
  reads,
  signedIn as signedInWith,
} from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { signedIn } from '../helper/start/people.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });
const operator = apiOf(world, ADMIN_TOKEN);
type Tap = Parameters<typeof openDashboard>[0];

/** A person with a role in the account. */
async function person(role: Role, name: string, more: object = {}) {
  const { person, browser } = await signedIn(world, { name });
  const { body } = await operator.post<{ link: string }>(
    `/api/admin/accounts/${owner.accountId}/invitations/`,
    { role, ...more },
  );
  const secret = body.link.slice(body.link.indexOf('#') + 1);
  await browser.post('/api/invitations/accept/', { secret });
  return person;
}

/** The dashboard of a person, on a page of the account. */
async function pagesOf(t: Tap, email: string, route: string, title: string): Promise<Dashboard> {
  const dashboard = await openDashboard(t, world);
  await dashboard.signIn({ email });
  await dashboard.page.goto(`${world.url}/dashboard/a/${owner.accountId}/${route}`);
  await dashboard.page.getByRole('heading', { level: 1, name: title }).waitFor();
  return dashboard;
}

async function stored(id: number): Promise<KeyView | undefined> {
  return (await keysOf(world, owner.key)).find((key) => key.id === id);
}

t.test('a member has their own keys, with what is left of their limits, and makes some', async (t) => {
  const dana = await person('member', 'Dana Lee', { spending_limits: [{ period: 'weekly', credits: 20 }] });
  const { page } = await pagesOf(t, dana.email, 'keys', 'My keys');
  await page.getByText('Your weekly limit').waitFor();
  await page.getByText('No keys yet').waitFor();
  t.equal(await page.getByText('First', { exact: true }).count(), 0, 'those of others are not shown');
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Laptop');
  t.equal(await page.getByLabel('For', { exact: true }).count(), 0);
  await page.getByText('More settings').click();
  t.equal(await page.getByLabel('Webhook URL').count(), 0, 'a key of a person has no webhook');
  t.equal(await page.getByLabel('Can manage').count(), 0, 'and never manages');
  await page.getByRole('button', { name: 'Create key' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Laptop' }).waitFor();
  t.equal((await world.chat(value)).status, 200);
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'Laptop');
  t.match(made, { person_id: dana.id, restrictions_locked: false });
  await page.getByRole('tab', { name: 'Limits' }).click();
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByLabel('Limit 1 in credits').fill('5');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Saved the key.').waitFor();
  t.match(await stored(made?.id ?? 0), { spending_limit: 5 });
});

t.test('an admin makes a key for a member, who can then only rename, rotate and deactivate it', async (t) => {
  const raj = await person('member', 'Raj Patel');
  const admin = await person('admin', 'Ada');
  const { page } = await pagesOf(t, admin.email, 'keys/new', 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('For Raj');
  await page.getByLabel('For', { exact: true }).selectOption('Raj Patel');
  await page.getByLabel('Limit 1 in credits').fill('20');
  await page.getByText('More settings').click();
  t.equal(await page.getByLabel('Webhook URL').count(), 0);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Copy for Raj Patel' }).waitFor();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'For Raj' }).waitFor();
  await page.getByRole('link', { name: 'Raj Patel' }).waitFor();
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'For Raj');
  t.match(made, { person_id: raj.id, restrictions_locked: true, can_manage: false, spending_limit: 20 });
  await page.getByRole('tab', { name: 'Settings' }).click();
  t.ok(await page.getByRole('switch', { name: 'Lock restrictions' }).isChecked());

  const { page: own } = await pagesOf(t, raj.email, `keys/${made?.id}?part=limits`, 'For Raj');
  await own.getByText('locked the restrictions of this key').waitFor();
  await own.getByText('20.00 credits a month (UTC)').waitFor();
  t.equal(await own.getByRole('button', { name: 'Save changes' }).count(), 0);
  await own.getByRole('tab', { name: 'Settings' }).click();
  t.equal(await own.getByLabel('Expires').count(), 0);
  await own.getByLabel('Name', { exact: true }).fill('Mine');
  await own.getByRole('button', { name: 'Save changes' }).click();
  await own.getByText('Saved the key.').waitFor();
  t.same(await accessibilityFaults(own), []);
  await own.getByRole('button', { name: 'Deactivate' }).click();
  const question = own.getByRole('dialog', { name: 'Deactivate “Mine”?' });
  await question.getByText('Only an owner or admin can reactivate it.').waitFor();
  await question.getByRole('button', { name: 'Deactivate' }).click();
  await own.getByText('Inactive', { exact: true }).waitFor();
  t.equal(await own.getByRole('button', { name: 'Reactivate' }).count(), 0);
  t.match(await stored(made?.id ?? 0), { name: 'Mine', is_active: false });
});

t.test('the list names owners, and finds the keys of one', async (t) => {
  const kim = await person('member', 'Kim');
  await makeKey(world, owner.key, { name: 'For Kim', person_id: kim.id });
  const { page } = await signedInWith(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.getByRole('row', { name: /For Kim .* Kim Active/ }).waitFor();
  await page.getByRole('row', { name: /First .* Account Active/ }).waitFor();
  await page.getByLabel('Owner').selectOption('Kim');
  await page
    .getByRole('status')
    .getByText(/^1 of \d+ keys$/)
    .waitFor();
  t.equal(await page.getByRole('rowheader').count(), 1);
  t.match(page.url(), new RegExp(`person_id=${kim.id}`));
});

t.test('a member who may not create keys is not offered to', async (t) => {
  const sam = await person('member', 'Sam', { can_create_keys: false });
  const { page } = await pagesOf(t, sam.email, 'keys', 'My keys');
  await page.getByText('No keys yet').waitFor();
  t.equal(await page.getByRole('link', { name: 'Create key' }).count(), 0);
});

t.test('a viewer sees keys and changes nothing', async (t) => {
  const vera = await person('viewer', 'Vera');
  const { id } = await makeKey(world, owner.key, {
    name: 'Seen',
    spending_limit: 5,
    spending_period: 'daily',
  });
  const { page } = await pagesOf(t, vera.email, 'keys', 'Keys');
  t.equal(await page.getByRole('link', { name: 'Create key' }).count(), 0);
  t.equal(await page.getByRole('checkbox').count(), 0, 'nothing to select');
  await page.locator(`a[href$="/keys/${id}"]`).click();
  await page.getByRole('tab', { name: 'Limits' }).click();
  await page.getByText('5.00 credits a day (UTC)').waitFor();
  for (const name of ['Rotate', 'Deactivate', 'Save changes'])
    t.equal(await page.getByRole('button', { name }).count(), 0, name);
  t.same(await accessibilityFaults(page), []);
});

t.test('M9: a key that may not manage sees itself alone, read only', async (t) => {
  const reader = await makeKey(world, owner.key, {
    name: 'Reader',
    can_manage: false,
    spending_limit: 5,
    rpm_limit: 60,
    blocked_countries: ['DE'],
  });
  const { page, signIn, open, faults } = await openDashboard(t, world);
  await signIn(reader.key);
  await open(`keys/${reader.id}`, 'Reader');
  await page.getByText('Signed in', { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Limits' }).click();
  await reads(t, page.locator('.facts'), /5\.00 credits a month.*Requests per minute60/);
  await page.getByRole('tab', { name: 'Access' }).click();
  await reads(t, page.locator('.facts'), /Blocked countriesGermany/);
  for (const name of ['Rotate', 'Deactivate', 'Save changes'])
    t.equal(await page.getByRole('button', { name }).count(), 0, name);
  await open(`keys/${owner.keyId}`, 'Key');
  await page.getByText('Key not found').waitFor();
  t.notMatch(await page.locator('main').textContent(), 'First');
  t.same(faults, []);
});

t.test('D17: the operator edits a key of an account, and makes one', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Raised', spending_limit: 5 });
  const dashboard = await signedInWith(t, world, ADMIN_TOKEN, {
    at: [`accounts/${owner.accountId}/keys/${id}?part=limits`, 'Raised'],
  });
  const { page, open } = dashboard;
  await page.getByLabel('Limit 1 in credits').fill('50');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Saved the key.').waitFor();
  t.match(await stored(id), { spending_limit: 50 });
  await open(`accounts/${owner.accountId}/keys/new`, 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('By the operator');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Key value').waitFor();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'By the operator' }).waitFor();
  t.match(page.url(), `/operator/accounts/${owner.accountId}/keys/`);
});
