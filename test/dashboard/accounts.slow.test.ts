import type { Page } from 'playwright-core';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { PASSWORD } from '../helper/clients/browser.ts';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { signedIn as personSignedIn } from '../helper/start/people.ts';
import { startPrefixProxy } from '../helper/start/prefix-proxy.ts';

const world = await startOwnGateway(t);
const operator = apiOf(world, ADMIN_TOKEN);

/** A person who belongs to new accounts of these names, an owner of the first and a member of the others. */
async function memberOf(names: readonly string[], isOperator = false) {
  const { person, browser } = await personSignedIn(world, { name: 'Dana Lee', isOperator });
  const ids: number[] = [];
  for (const [index, name] of names.entries()) {
    const { accountId } = await world.account();
    await operator.patch(`/api/admin/accounts/${accountId}/`, { name });
    const role = index === 0 ? 'owner' : 'member';
    const path = `/api/admin/accounts/${accountId}/invitations/`;
    const { body } = await operator.post<{ link: string }>(path, { role });
    await browser.post('/api/invitations/accept/', { secret: body.link.split('#')[1] });
    ids.push(accountId);
  }
  return { email: person.email, ids, browser };
}

async function signInAs(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

const titled = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

t.test('another account is chosen by keyboard, and shows the same page', async (t) => {
  const { email, ids } = await memberOf(['Northwind', 'Contoso']);
  const { page, faults } = await openDashboard(t, world);
  await signInAs(page, email);
  await page.goto(`${world.url}/dashboard/a/${ids[0]}/requests?times=utc`);
  await page.getByRole('button', { name: 'Account: Northwind Owner' }).press('Enter');
  await page.getByRole('option', { name: 'Contoso Member' }).waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/a/${ids[1]}/requests?times=utc`);
  await page.getByRole('button', { name: 'Account: Contoso Member' }).click();
  await page.getByRole('option', { name: 'Northwind Owner' }).click();
  await page.waitForURL(`**/a/${ids[0]}/requests?times=utc`);
  await page.getByRole('link', { name: 'Members' }).click();
  await titled(page, 'Members');
  await page.getByRole('button', { name: 'Account: Northwind Owner' }).click();
  await page.getByRole('option', { name: 'Contoso Member' }).click();
  await page.waitForURL(`**/a/${ids[1]}/home?times=utc`);
  t.same(faults, [], 'a member has no such page, and gets Home');
});

t.test('from eight accounts on, the list can be searched', async (t) => {
  const { email, ids } = await memberOf(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'Wide World']);
  const { page } = await openDashboard(t, world);
  await signInAs(page, email);
  await page.getByRole('button', { name: 'Account: A Owner' }).click();
  await page.locator('input[aria-label="Search accounts"]:focus').fill('wide');
  await page.getByRole('option', { name: 'Wide World Member' }).waitFor();
  t.equal(await page.getByRole('listbox', { name: 'Accounts' }).getByRole('option').count(), 1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/a/${ids[7]}/home`);
});

t.test('two accounts are shown in two tabs', async (t) => {
  const { email, ids } = await memberOf(['Northwind', 'Contoso']);
  const { page } = await openDashboard(t, world);
  await signInAs(page, email);
  await page.goto(`${world.url}/dashboard/a/${ids[0]}/usage`);
  const other = await page.context().newPage();
  await other.goto(`${world.url}/dashboard/a/${ids[1]}/usage`);
  await other.getByRole('button', { name: 'Account: Contoso Member' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Account: Northwind Owner' }).waitFor();
  t.match(page.url(), new RegExp(`/a/${ids[0]}/usage$`));
  t.match(other.url(), new RegExp(`/a/${ids[1]}/usage$`));
  await other.close();
});

t.test('the operator sees an account below a bar that says so, and leaves it', async (t) => {
  const { accountId } = await world.account({ email: 'seen@example.com' });
  const { page, signIn, open, faults } = await openDashboard(t, world);
  await signIn(ADMIN_TOKEN);
  await open(`accounts/${accountId}/requests`, 'Requests');
  const bar = page.getByRole('region', { name: 'Account that you operate' });
  await bar.getByText('seen@example.com').waitFor();
  t.same(await accessibilityFaults(page), []);
  await bar.getByRole('link', { name: 'Leave' }).click();
  await page.waitForURL('**/dashboard/operator/accounts');
  await bar.waitFor({ state: 'detached' });
  t.same(faults, []);
});

t.test('a person changes name and password, ends sessions, and leaves an account', async (t) => {
  const { email, browser, ids } = await memberOf(['Northwind', 'Contoso']);
  const { page, faults } = await openDashboard(t, world);
  await signInAs(page, email);
  await page.getByRole('link', { name: 'Dana Lee' }).click();
  await titled(page, 'Me');
  await page.getByLabel('Name', { exact: true }).fill('Dana L.');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Dana L.' }).waitFor();
  t.same(await accessibilityFaults(page), []);

  t.equal((await browser.get('/api/session/')).status, 200);
  await page.getByRole('button', { name: 'End all others' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
  await page.getByText('All other sessions ended.').waitFor();
  t.equal((await browser.get('/api/session/')).status, 401);

  await page.getByLabel('Current password').fill('wrong');
  await page.getByLabel('New password').fill('another horse battery');
  await page.keyboard.press('Enter');
  await page.getByText('The current password is wrong.').waitFor();
  await page.locator('input[name=current_password]:focus').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('Password changed.').waitFor();

  const leave = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Leave Northwind' }).click();
  await leave.getByRole('button', { name: 'Leave' }).click();
  await leave
    .getByRole('alert')
    .getByText(/last .*owner/)
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Leave Contoso' }).click();
  await leave.getByRole('button', { name: 'Leave' }).click();
  await page.getByText('You left Contoso.').waitFor();
  await page.goto(`${world.url}/dashboard/a/${ids[1]}/home`);
  await titled(page, 'Page not found');
  t.same(faults, []);
});

t.test('the page works below a path of a proxy', async (t) => {
  const address = await startPrefixProxy(t, world.url, '/ai');
  const { email, ids } = await memberOf(['Northwind']);
  const { page, requests, faults } = await openDashboard(t, world);
  await page.getByLabel('E-mail address').waitFor();
  await page.goto('about:blank');
  const before = requests.length;
  await page.goto(`${address}/dashboard/a/${ids[0]}/usage`);
  await titled(page, 'Sign in');
  await signInAs(page, email);
  await page.waitForURL(`${address}/dashboard/a/${ids[0]}/usage`);
  await page.getByRole('link', { name: 'Home' }).click();
  await page.waitForURL(`${address}/dashboard/a/${ids[0]}/home`);
  await page.reload();
  await titled(page, 'Home');
  await page.goBack();
  await titled(page, 'Usage');
  await page.goto(`${address}/dashboard/#/keys`);
  await page.waitForURL(`${address}/dashboard/a/${ids[0]}/keys`);
  await titled(page, 'Keys');
  await page.goto(`${address}/dashboard`);
  await page.waitForURL(`${address}/dashboard/a/${ids[0]}/home`);
  const outside = requests.slice(before).filter((asked) => !asked.startsWith(`${address}/`));
  t.same(outside, [], 'nothing beside it is asked for');
  t.same(faults, []);
});

t.test('on a phone, the menu opens the same pages, and closes when one is shown', async (t) => {
  const { email } = await memberOf(['Northwind', 'Contoso']);
  const { page } = await openDashboard(t, world, { width: 390, height: 844 });
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.click();
  t.same(await accessibilityFaults(page), []);
  t.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0, 'it fits');
  await page.getByRole('link', { name: 'Usage' }).click();
  await titled(page, 'Usage');
  await page.getByRole('link', { name: 'Usage' }).waitFor({ state: 'hidden' });
  t.equal(await menu.getAttribute('aria-expanded'), 'false');
});
