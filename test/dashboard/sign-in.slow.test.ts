import t from 'tap';
import { openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

t.test('a key that is not known is refused at its field', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  await signIn('sk-tg-nonsense');
  await page.getByText('This API key does not exist.').waitFor();
  const field = page.getByLabel('API key');
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  t.match(await field.getAttribute('aria-describedby'), /error/);
});

t.test('L19: the only field has the focus', async (t) => {
  const { page } = await openDashboard(t, world);
  await page.getByRole('button', { name: 'Use an API key or the admin token' }).click();
  await page.locator('input[name=token]:focus').waitFor();
});

t.test('L19: without an operator API, an operator gets a message', async (t) => {
  const other = await startOwnGateway(t, { config: { adminToken: undefined } });
  const { page, signIn } = await openDashboard(t, other);
  await signIn(ADMIN_TOKEN);
  await page.getByText('this gateway runs without ADMIN_TOKEN').waitFor();
});

t.test('a key that cannot be sent in a header is refused too', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  await signIn('ключ');
  await page.getByText('This is not an API key.').waitFor();
  t.equal(await page.evaluate('sessionStorage.length'), 0);
});

t.test('a key signs in, and is kept in session storage and nowhere else', async (t) => {
  const { key } = await world.account({ email: 'shown@example.com' });
  const { page, requests } = await signedIn(t, world, key);
  await page.getByText('shown@example.com', { exact: true }).waitFor();
  t.match(await page.evaluate('JSON.stringify(sessionStorage)'), new RegExp(key));
  t.equal(await page.evaluate('JSON.stringify(localStorage) + document.cookie'), '{}');
  t.notMatch(page.url(), new RegExp(key));
  t.notOk(
    requests.some((address) => address.includes(key)),
    'no address has it',
  );
});

t.test('a session outlasts a reload, and ends by signing out', async (t) => {
  const { key } = await world.account();
  const { page } = await signedIn(t, world, key);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  t.equal(await page.evaluate('sessionStorage.length'), 0);
});

t.test('a key that is deactivated meanwhile signs out, and says why', async (t) => {
  const { key, keyId } = await world.account();
  const { page, open } = await signedIn(t, world, key);
  await world.api('DELETE', `/api/keys/${keyId}/`, key);
  await open('billing', 'Sign in');
  const words = await page.getByText('You have been signed out.').textContent();
  t.match(words, /This API key is deactivated/);
});

t.test('a refusal by the restrictions of the key shows its reason', async (t) => {
  const { key } = await world.account({ key: { allowedIps: ['203.0.113.0/24'] } });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(key);
  const words = await page.getByText('not in the allowed_ips').textContent();
  t.match(words, /Your IP address 127\.0\.0\.1 .*also apply to this page/);
});

t.test('a key that is limited to the page it is used on may be used on it', async (t) => {
  const { key } = await world.account({ key: { allowedOrigins: [new URL(world.url).origin] } });
  const { page } = await signedIn(t, world, key, { at: ['keys', 'Keys'] });
  await page.getByRole('link', { name: 'test' }).waitFor();
  t.equal(await page.getByRole('alert').count(), 0);
});

t.test('the operator token opens the accounts', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  const refused: string[] = [];
  page.on('response', (response) => {
    // Whether a cookie has a person is found by asking: it is hidden from the page.
    const isOfPerson = response.url().includes('/api/session/');
    if (response.status() >= 400 && !isOfPerson) refused.push(response.url());
  });
  await signIn(ADMIN_TOKEN);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByText('All accounts').waitFor();
  t.same(refused, [], 'no refusal, which browsers log as an error');
  t.equal(await page.getByRole('link', { name: 'Billing' }).count(), 0, 'an operator has no account');
});

t.test('an unreachable gateway shows an error with a retry', async (t) => {
  const other = await startOwnGateway(t);
  const { key } = await other.account();
  const { page, signIn } = await openDashboard(t, other);
  await signIn(key);
  await page.getByText('No calls in this range').waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('alert').getByText("The gateway can't be reached.").waitFor();
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  t.equal(await page.getByRole('alert').count(), 0);
});
