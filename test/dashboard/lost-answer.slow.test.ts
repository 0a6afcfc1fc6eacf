import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

async function namedBy(name: string) {
  return (await keysOf(world, owner.key)).filter((key) => key.name === name);
}

async function formOf(t: Parameters<typeof signedIn>[0], name: string) {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill(name);
  return page;
}

t.test('a key whose answer is lost may have been made, and is found', async (t) => {
  const page = await formOf(t, 'Made unseen');
  await page.route('**/api/keys/', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    // The gateway gets the request, but the page does not get the answer.
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Create key' }).click();
  const note = page.getByRole('alert');
  await note.getByText('whether the key was created. Look for it').waitFor();
  await page.locator('[role=alert]:focus').waitFor();
  t.notMatch(await note.textContent(), /try again/i);
  await note.getByRole('button', { name: 'Look for it' }).click();
  await note.getByText('There is a key of this name.').waitFor();
  const [made] = await namedBy('Made unseen');
  t.equal(await note.getByRole('link').getAttribute('href'), `#/keys/${made?.id}`);
});

t.test('one that was not made is not found, and can be created then', async (t) => {
  const page = await formOf(t, 'Not made');
  let isDown = true;
  await page.route('**/api/keys/', async (route) => {
    if (route.request().method() === 'GET' || !isDown) return route.continue();
    await route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
  });
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Look for it' }).click();
  await page.getByText('it was not made').waitFor();
  isDown = false;
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Key value').waitFor();
  t.equal((await namedBy('Not made')).length, 1);
});

t.test('an answer that never comes counts as lost', async (t) => {
  const page = await formOf(t, 'No answer');
  await page.clock.install();
  const isAsked = page.waitForRequest((request) => request.method() === 'POST');
  await page.route('**/api/keys/', (route) =>
    route.request().method() === 'GET' ? route.continue() : undefined,
  );
  await page.getByRole('button', { name: 'Create key' }).click();
  await isAsked;
  await page.clock.fastForward(61_000);
  await page.getByText('whether the key was created').waitFor();
  t.pass('it is told');
});

t.test('so does that of an account, and of a key, that the operator makes', async (t) => {
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts/new', 'Create account'] });
  await page.route('**/api/admin/accounts/', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel('Email address of the owner').fill('unseen@example.com');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('alert').getByText('whether the account was created. Look for it').waitFor();
  const { body } = await apiOf(world, ADMIN_TOKEN).get<{ accounts: { email: string }[] }>(
    '/api/admin/accounts/',
  );
  t.ok(body.accounts.some(({ email }) => email === 'unseen@example.com'));
});
