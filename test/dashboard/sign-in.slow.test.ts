import type { Page } from 'playwright-core';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { PASSWORD } from '../helper/clients/browser.ts';
import { openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { newEmail, personOn } from '../helper/start/people.ts';

const world = await startOwnGateway(t);
const operator = apiOf(world, ADMIN_TOKEN);

const titled = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

/** Signs in with a key by the form. */
async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Use an API key or the admin token' }).click();
  await page.locator('input[name=key]:focus').fill(key);
  await page.keyboard.press('Enter');
}

/** The link of an invitation to a new account. */
async function invited(role: string, email: string | null = null) {
  const { accountId, key } = await world.account();
  const { body } = await operator.post<{ id: number; link: string }>(
    `/api/admin/accounts/${accountId}/invitations/`,
    { role, email },
  );
  return { accountId, key, ...body };
}

t.test('a person signs in with Enter in either field, and returns to the page they wanted', async (t) => {
  const { accountId, link } = await invited('owner');
  const { email } = await personOn(world, { name: 'Dana Lee' });
  const { page, faults } = await openDashboard(t, world);
  await page.goto(link);
  await page.getByRole('button', { name: 'I have signed in here before' }).click();
  await page.locator('input[name=email]:focus').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Join as ${email}` }).click();
  await page.waitForURL(`**/dashboard/a/${accountId}/home`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await titled(page, 'Sign in');

  await page.goto(`${world.url}/dashboard/a/${accountId}/requests?range=7d`);
  await titled(page, 'Sign in');
  await page.locator('input[name=email]:focus').fill(email);
  await page.keyboard.press('Enter');
  await page.getByText('Enter your password.').waitFor();
  await page.locator('input[name=password]:focus').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.locator('input[name=password]:focus').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/dashboard/a/${accountId}/requests?range=7d`);
  await titled(page, 'Requests');

  await page.goto(`${world.url}/dashboard/sign-in`);
  await page.waitForURL('**/home');
  t.same(faults, [], 'and a bookmark of the sign-in leads on');
});

t.test('an address of another host is not gone to after a sign-in', async (t) => {
  const { key } = await world.account();
  const { page, requests } = await openDashboard(t, world);
  await page.goto(`${world.url}/dashboard/sign-in?next=//evil.example.com/`);
  await enterKey(page, key);
  await titled(page, 'Home');
  t.ok(requests.every((address) => address.startsWith(`${world.url}/`)));
});

t.test('too many wrong passwords are refused with the time to wait', async (t) => {
  const { email } = await personOn(world);
  const { page } = await openDashboard(t, world);
  await page.getByLabel('E-mail address').fill(email);
  for (let attempt = 0; attempt < 11; attempt++) {
    const answered = page.waitForResponse('**/api/session/');
    await page.getByLabel('Password', { exact: true }).fill(`wrong ${attempt}`);
    await page.keyboard.press('Enter');
    await answered;
    await page.getByRole('button', { name: 'Sign in', exact: true, disabled: false }).waitFor();
  }
  const words = await page.getByRole('alert').textContent();
  t.match(words, /Too many sign-ins failed .* Try again in \d+ s\./);
});

t.test('a key or token that is not known is refused at its field', async (t) => {
  const { page } = await openDashboard(t, world);
  await enterKey(page, 'sk-tg-nonsense');
  await page.getByText('This is neither an API key nor the operator token.').waitFor();
  const field = page.locator('input[name=key]:focus');
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  t.match(await field.getAttribute('aria-describedby'), /error/);
  t.same(await accessibilityFaults(page), []);
});

t.test('a key is exchanged for a session, and the page keeps nothing of it', async (t) => {
  const { key } = await world.account({ key: { name: 'App' } });
  const { page, requests } = await openDashboard(t, world);
  await enterKey(page, key);
  await titled(page, 'Home');
  await page.getByText('Signed in with a managing key').waitFor();
  const stored = String(await page.evaluate('JSON.stringify(localStorage) + JSON.stringify(sessionStorage)'));
  t.notOk(stored.includes(key));
  t.equal(await page.evaluate('document.cookie'), '', 'scripts do not see the cookie');
  t.notOk(
    requests.some((address) => address.includes(key)),
    'no address has it',
  );
  await page.reload();
  await titled(page, 'Home');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await titled(page, 'Sign in');
  await page.reload();
  await page.getByLabel('E-mail address').waitFor();
  t.same(await page.context().cookies(), []);
});

t.test('the operator token opens the accounts', async (t) => {
  const { page } = await openDashboard(t, world);
  await enterKey(page, ADMIN_TOKEN);
  await page.waitForURL('**/dashboard/operator/home');
  await page.getByRole('complementary').getByText('All accounts').waitFor();
  t.equal(await page.getByRole('link', { name: 'Billing' }).count(), 0, 'an operator has no account');
});

t.test('a key that is deactivated meanwhile signs out, and says why', async (t) => {
  const { key, keyId } = await world.account();
  const { page } = await signedIn(t, world, key);
  await world.api('DELETE', `/api/keys/${keyId}/`, key);

  await page.reload();
  await titled(page, 'Sign in');
  t.match(page.url(), /next=/);
});

t.test('a refusal by the restrictions of the key shows its reason', async (t) => {
  const { key } = await world.account({ key: { allowedIps: ['203.0.113.0/24'] } });
  const { page } = await openDashboard(t, world);
  await enterKey(page, key);
  const words = await page.getByText('not in the allowed_ips').textContent();
  t.match(words, /Your IP address 127\.0\.0\.1 .*also apply to this page/);
});

t.test('the failure of a provider is shown in words', async (t) => {
  const { page } = await openDashboard(t, world);
  await page.goto(`${world.url}/dashboard/sign-in?error=email_taken`);
  await page.getByRole('alert').getByText('A person with your e-mail address exists already.').waitFor();
  t.same(await accessibilityFaults(page), []);
});

t.test('a new person joins by an invitation, whose secret leaves the address at once', async (t) => {
  const email = newEmail();
  const { accountId, link } = await invited('viewer', email);
  const other = await invited('member');
  const { page, faults } = await openDashboard(t, world);
  await page.goto(link);
  await page.getByText('see the balance and the ledger').waitFor();
  t.equal(new URL(page.url()).hash, '');
  t.equal(await page.getByLabel('E-mail address').inputValue(), email);
  t.same(await accessibilityFaults(page), []);
  // Another link in the same tab changes the fragment alone.
  await page.goto(other.link);
  await page.getByText('create your own keys').waitFor();
  t.equal(new URL(page.url()).hash, '');
  await page.goto(link);
  await page.getByText('see the balance and the ledger').waitFor();
  await page.locator('input[name=name]:focus').fill('Ada');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText('The password must have 10 to 200 characters.').waitFor();
  await page.locator('input[name=password]:focus').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/dashboard/a/${accountId}/home`);
  await page.getByText(email).waitFor();
  t.same(faults, []);

  await page.goto(link);
  await page.getByText('This invitation was used or withdrawn, or has expired.').waitFor();
  await page.goto(other.link);
  await page.getByRole('button', { name: 'Use another account' }).click();
  await page.getByLabel('E-mail address').waitFor();
  t.same(await page.context().cookies(), [], 'the person before is signed out');
});

t.test('the first run makes the operator; a used link says how to get another', async (t) => {
  const fresh = await startOwnGateway(t, { setupCode: 'the-code' });
  const { page } = await openDashboard(t, fresh);
  await page.goto(`${fresh.url}/dashboard/setup#the-code`);
  await page.locator('input[name=name]:focus').fill('Ada');
  t.equal(new URL(page.url()).hash, '');
  await page.getByLabel('E-mail address').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  t.same(await accessibilityFaults(page), []);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/dashboard/operator/home');
  await page.goto(`${fresh.url}/dashboard/setup#the-code`);
  await page.locator('input[name=name]:focus').fill('Eve');
  await page.getByLabel('E-mail address').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('tollgate person create --operator').waitFor();
  await page.getByRole('link', { name: 'Skip' }).click();
  await page.waitForURL('**/home');
  await page.goto(`${fresh.url}/dashboard/setup`);
  t.match(await page.getByText('This address has no code.').textContent(), /printed at its start/);
});

t.test('a link for a new password sets it', async (t) => {
  const { email, id } = await personOn(world);
  const { body } = await operator.post<{ link: string }>(`/api/admin/people/${id}/reset/`);
  const { page } = await openDashboard(t, world);
  await page.goto(body.link);
  await page.locator('input[name=password]:focus').fill('another horse battery');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill('another horse battery');
  await page.keyboard.press('Enter');
  await titled(page, 'Me');
  t.equal(new URL(page.url()).pathname, '/dashboard/me', 'a person without an account');
});

t.test('without passwords, people have the providers alone', async (t) => {
  const other = await startOwnGateway(t, {
    config: { people: { passwords: false, auditDays: 400, oidc: [] } },
  });
  const { page } = await openDashboard(t, other);
  await page.getByRole('button', { name: 'Use an API key or the admin token' }).waitFor();
  t.equal(await page.getByLabel('E-mail address').count(), 0);
});

t.test('an unreachable gateway shows an error with a retry', async (t) => {
  const other = await startOwnGateway(t);
  const { key } = await other.account();
  const { page } = await signedIn(t, other, key, { at: ['billing', 'Billing'] });
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Alerts' }).click();
  await page.getByRole('alert').getByText("can't be reached").waitFor();
  await page.context().setOffline(false);
  await page.getByRole('button', { name: /Try again|Reload/ }).click();
  await titled(page, 'Alerts');
  t.equal(await page.getByRole('alert').count(), 0);
});
