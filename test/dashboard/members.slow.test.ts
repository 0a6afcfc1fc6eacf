import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { Browser, PASSWORD } from '../helper/clients/browser.ts';
import { type Dashboard, makeKey, openDashboard, reads, type View } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { newEmail, personOn, signedIn } from '../helper/start/people.ts';

const world = await startGatewayInProcess(t);

/** A person with a role in an account. */
async function member(accountId: number, role: string, name: string) {
  const { person, browser } = await signedIn(world, { name });
  const operator = apiOf(world, ADMIN_TOKEN);
  const path = `/api/admin/accounts/${accountId}/invitations/`;
  const { link } = (await operator.post<{ link: string }>(path, { role })).body;
  await browser.call('POST', '/api/invitations/accept/', { body: { secret: secretOf(link) } });
  return person;
}

function secretOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** The dashboard of a person who is signed in with the password PASSWORD, at a path. */
async function dashboardOf(
  t: Parameters<typeof openDashboard>[0],
  email: string,
  path: string,
  view: View = {},
): Promise<Dashboard> {
  const dashboard = await openDashboard(t, world, view);
  const status = await dashboard.page.evaluate(
    async (body) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch('../api/session/', { method: 'POST', headers, body: JSON.stringify(body) })).status;
    },
    { email, password: PASSWORD },
  );
  if (status !== 200) throw new Error(`the sign-in was refused: ${status}`);
  await dashboard.page.goto(`${world.url}/dashboard/${path}`);
  return dashboard;
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

t.test('an invitation makes a link, which makes a member in another browser', async (t) => {
  const { accountId } = await world.account({ credits: 10 });
  const owner = await member(accountId, 'owner', 'Olga');
  const { page } = await dashboardOf(t, owner.email, `a/${accountId}/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  const email = newEmail();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail address').fill(email);
  await dialog.getByLabel('Role').selectOption('viewer');
  await reads(t, page.getByRole('dialog'), /May .*see the balance/, 'the role in a sentence');
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await reads(t, page.getByRole('dialog'), /not mailed/);
  const link = await page.getByLabel('Invitation link').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('table').getByText(email).waitFor();

  const other = await openDashboard(t, world);
  await other.page.goto(link);
  await other.page.getByLabel('Name', { exact: true }).fill('Vera');
  await other.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await other.page.getByRole('button', { name: 'Join' }).click();
  await other.page.waitForURL(/\/home/);
  await other.page.goto(`${world.url}/dashboard/a/${accountId}/members`);
  await rowOf(other.page, 'Vera').waitFor();
  t.equal(await other.page.getByRole('button', { name: 'Invite' }).count(), 0, 'a viewer invites nobody');

  await page.reload();
  await reads(t, rowOf(page, 'Vera'), /Viewer.*Active/);
  t.equal(await page.getByRole('button', { name: /Withdraw/ }).count(), 0, 'the invitation is used');
});

t.test(
  'a role and limits are changed, what is typed is not lost, and the audit log shows both sides',
  async (t) => {
    const { accountId } = await world.account({ credits: 10 });
    const owner = await member(accountId, 'owner', 'Olga');
    const raj = await member(accountId, 'member', 'Raj');
    const { page } = await dashboardOf(t, owner.email, `a/${accountId}/members`);
    await page.getByRole('button', { name: 'Raj' }).click();
    await page.waitForURL(new RegExp(`member=${raj.id}`));
    await page.getByRole('dialog').getByLabel('Role').selectOption('admin');
    await page.getByRole('button', { name: 'Add limit' }).click();
    await page.getByLabel('Limit 1 in credits').fill('12.5');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Stay on this page' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Saved the member.').waitFor();
    await reads(t, page.getByRole('dialog'), /12\.50 of 12\.50 left/, 'what is left of the new limit');

    await page.getByRole('link', { name: 'Changed the member: Raj' }).click();
    await page.waitForURL(/audit\?entry=/);
    const diff = page.getByRole('region', { name: 'What changed' });
    await reads(t, diff.getByRole('row').filter({ hasText: 'Role' }), /Member.*Admin/);
    await reads(t, diff.getByRole('row').filter({ hasText: 'Spending limits' }), /none.*12\.50 monthly/);
    await page.getByRole('link', { name: 'All about Raj' }).click();
    await reads(t, page.getByRole('region', { name: 'Audit log' }), /Olga.*Changed the member/s);

    await page.getByRole('button', { name: 'Export' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const file = await (await download).path();
    t.match(readFileSync(file, 'utf8'), /member\.update,member,/, 'the filtered entries');
  },
);

t.test('deactivating a member names the keys, which stop at once; nobody changes themselves', async (t) => {
  const { accountId, key } = await world.account({ credits: 10 });
  const owner = await member(accountId, 'owner', 'Olga');
  const raj = await member(accountId, 'member', 'Raj');
  const laptop = await makeKey(world, key, { name: 'laptop', person_id: raj.id });
  const call = async () => {
    const response = await world.chat(laptop.key);
    await response.text();
    return response.status;
  };
  t.equal(await call(), 200);
  const { page } = await dashboardOf(t, owner.email, `a/${accountId}/members?member=${raj.id}`);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  const question = page.getByRole('dialog', { name: `Deactivate ${raj.email}?` });
  await reads(t, question, /1 active key stops at once: “laptop”/);
  await question.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  t.equal(await call(), 401);

  await page.goto(`${world.url}/dashboard/a/${accountId}/members?member=${owner.id}`);
  await reads(t, page.getByRole('dialog'), /This is you\. Nobody changes their own membership/);
  t.equal(await page.getByRole('button', { name: 'Remove' }).count(), 0);
});

t.test('an operator finds a person and makes a link for a new password, which works', async (t) => {
  const operator = await personOn(world, { name: 'Opal', isOperator: true });
  const person = await personOn(world, { name: 'Forgetful Fred' });
  const { page } = await dashboardOf(t, operator.email, 'operator/people');
  await page.getByLabel('Search').fill('forgetful');
  await until('only Fred', async () => (await page.getByRole('row').count()) === 2);
  await page.getByRole('button', { name: person.email }).click();
  await page.getByRole('button', { name: 'New password link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await reads(t, page.getByRole('dialog'), new RegExp(`tollgate person erase ${person.email}`));

  const other = await openDashboard(t, world);
  await other.page.goto(link);
  await other.page.getByLabel('New password', { exact: true }).fill('a new password of Fred');
  await other.page.getByRole('button', { name: 'Set password' }).click();
  await other.page.getByText('Your password is changed').waitFor();
  const signIn = await new Browser(world).signIn(person.email, 'a new password of Fred');
  t.equal(signIn.status, 200);

  await page.getByLabel('Name', { exact: true }).fill('Fred');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Saved the person.').waitFor();
  await page.getByRole('button', { name: 'Make operator' }).click();
  await page
    .getByRole('dialog', { name: /^Make operator/ })
    .getByRole('button', { name: 'Make operator' })
    .click();
  await page.getByRole('button', { name: 'Remove as operator' }).waitFor();
  t.match(await world.book.person(person.id), { name: 'Fred', isOperator: true });
});

t.test('who may rename the account does; a viewer reads the settings', async (t) => {
  const { accountId } = await world.account({ credits: 10 });
  const owner = await member(accountId, 'owner', 'Olga');
  const viewer = await member(accountId, 'viewer', 'Vera');
  const { page } = await dashboardOf(t, owner.email, `a/${accountId}/settings`);
  await page.getByLabel('Name', { exact: true }).fill('Northwind');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Saved the account.').waitFor();
  const other = await dashboardOf(t, viewer.email, `a/${accountId}/settings`);
  await reads(t, other.page.getByRole('main'), /Northwind.*Owners and admins can change it/s);
  t.equal(await other.page.getByRole('textbox').count(), 0);
});

t.test('members, people, audit and settings are accessible in both schemes, and fit a phone', async (t) => {
  const { accountId } = await world.account({ credits: 10 });
  const operator = await personOn(world, { name: 'Opal', isOperator: true });
  const owner = await member(accountId, 'owner', 'Olga');
  const raj = await member(accountId, 'member', 'Raj');
  const own = [
    'members',
    `members?member=${raj.id}`,
    `members?member=${owner.id}`,
    'audit',
    'audit?action=member.add',
    'settings',
  ].map((path) => [owner.email, `a/${accountId}/${path}`] as const);
  const operated = ['people', `people?person=${raj.id}`, 'audit', `accounts/${accountId}/members`];
  const all = [...own, ...operated.map((path) => [operator.email, `operator/${path}`] as const)];
  for (const scheme of ['light', 'dark'] as const) {
    for (const email of [owner.email, operator.email]) {
      const { page, faults } = await dashboardOf(t, email, '', { scheme, width: 390 });
      for (const [whose, path] of all.filter(([whose]) => whose === email)) {
        await page.goto(`${world.url}/dashboard/${path}`);
        await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor();
        await page.waitForLoadState('networkidle');
        t.same(await accessibilityFaults(page), [], `${whose} ${path}, ${scheme}`);
        const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        t.ok(Number(tooWide) <= 0, `${path} fits`);
      }
      t.same(faults, []);
    }
  }
});
