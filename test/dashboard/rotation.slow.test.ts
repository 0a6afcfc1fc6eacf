import type { Page } from 'playwright-core';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' }, email: 'owner@example.com' });
const api = apiOf(world, owner.key);
type Tap = Parameters<typeof signedIn>[0];

async function keyOf(id: number) {
  return (await keysOf(world, owner.key)).find((key) => key.id === id);
}

async function statusOf(key: string): Promise<number> {
  const response = await world.chat(key);
  await response.text();
  return response.status;
}

/** The page of a key, with the rotation dialog open. */
async function rotating(t: Tap, name: string, session = owner.key) {
  const key = await makeKey(world, owner.key, { name });
  const dashboard = await signedIn(t, world, session, { at: [`keys/${key.id}`, name] });
  return { ...dashboard, key, dialog: await asked(dashboard.page, name) };
}

async function asked(page: Page, name: string) {
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Rotate “${name}”?` });
  await dialog.waitFor();
  return dialog;
}

/** Chooses a custom grace period and types its seconds. */
async function typeGrace(page: Page, seconds: string) {
  await page.getByLabel('Grace period for the current value').selectOption('own');
  await page.getByLabel('Unit').selectOption('seconds');
  await page.getByLabel('Duration').fill(seconds);
}

/** Confirms the rotation; resolves with the new value, once it is marked as saved. */
async function newValue(page: Page): Promise<string> {
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return value;
}

t.test('a grace counts down on the page, and ends there and at the gateway by itself', async (t) => {
  const { page, key } = await rotating(t, 'Short');
  await typeGrace(page, '5');
  const counting = page.getByText(/The previous value is valid until .* \(in [1-5] s\)/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await counting;
  const value = await page.getByLabel('Key value').inputValue();
  t.equal(await statusOf(value), 200, 'the new value works');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByText('The previous value of key “Short” has expired.').waitFor();
  await page.getByText('The previous value is valid until').waitFor({ state: 'detached' });
  await until('the previous value is refused', async () => (await statusOf(key.key)) === 401);
  t.equal(await statusOf(value), 200);
  await page.getByText(`${value.slice(0, 10)}…`).waitFor();
  t.notOk((await page.content()).includes(value), 'the value is not shown again');
});

t.test('a long grace period shows its two largest units as time passes', async (t) => {
  const { page, dialog, key } = await rotating(t, 'Long');
  await page.clock.install();
  await dialog.getByText(/^Both values work until/).waitFor();
  const value = await newValue(page);
  t.same([await statusOf(key.key), await statusOf(value)], [200, 200]);
  await page.getByText(/\(in 1 d 0 h\)/).waitFor();
  const pass = async (minutes: number) => {
    await page.clock.fastForward((minutes - 1) * 60_000);
    // A timer that was set after the leap runs for a minute at most.
    await page.clock.runFor(60_000);
  };
  await pass(20 * 60 + 47);
  await page.getByText(/\(in 3 h 1\d min\)/).waitFor();
  await pass(3 * 60);
  await page.getByText(/\(in \d+ min \d+ s\)/).waitFor();
  await pass(15);
  // The gateway's clock ends it, and the browser's clock is a day ahead now.
  const line = page.getByText(/^The previous value is valid until .* \(any moment now\)/);
  await line.waitFor();
  t.equal(await statusOf(key.key), 200);
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByText('The previous value, which is still valid, ends immediately').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'End now' }).click();
  await api.post(`/api/keys/${key.id}/rotate/`, { end_grace: true });
  await page.clock.runFor(60_000);
  await line.waitFor({ state: 'detached' });
  t.equal(await page.getByRole('dialog').count(), 0, 'there is nothing to be asked any more');
});

t.test('a browser whose clock is ahead shows a previous value that is valid, and ends it', async (t) => {
  const key = await makeKey(world, owner.key, { name: 'Ahead' });
  await api.post(`/api/keys/${key.id}/rotate/`, { grace_seconds: 600 });
  const { page, open } = await signedIn(t, world, owner.key);
  await page.clock.setSystemTime(Date.now() + 3_600_000);
  await open(`keys/${key.id}`, 'Ahead');
  await page.getByText('(any moment now)').waitFor();
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByRole('button', { name: 'End it now' }).click();
  await page.getByText('The previous value of key “Ahead” is no longer valid.').waitFor();
  await page.getByText('The previous value is valid until').waitFor({ state: 'detached' });
  t.equal(await statusOf(key.key), 401);
});

t.test('a previous value is ended now, after a question', async (t) => {
  const { page, key } = await rotating(t, 'Ended');
  const value = await newValue(page);
  await page.getByRole('button', { name: 'End now' }).click();
  const question = page.getByRole('dialog', { name: 'End the previous value of “Ended”?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  t.equal(await statusOf(key.key), 200, 'nothing happened');
  // A change of the key's settings in the meantime does not keep the value alive.
  await api.patch(`/api/keys/${key.id}/`, { description: 'x' });
  await page.getByRole('button', { name: 'End now' }).click();
  await question.getByRole('button', { name: 'End it now' }).click();
  await page.getByText('The previous value of key “Ended” is no longer valid.').waitFor();
  await page.getByText('The previous value is valid until').waitFor({ state: 'detached' });
  t.same([await statusOf(key.key), await statusOf(value)], [401, 200]);
});

t.test('only the value that was shown can be ended', async (t) => {
  const { page, key } = await rotating(t, 'Twice');
  const value = await newValue(page);
  const { body } = await api.post<{ prefix: string }>(`/api/keys/${key.id}/rotate/`, { grace_seconds: 600 });
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByRole('button', { name: 'End it now' }).click();
  await page.getByText(`rotated in the meantime and its value now begins with ${body.prefix}`).waitFor();
  t.equal(await statusOf(value), 200);
});

t.test('without a grace period the value ends immediately, and the dialog says so', async (t) => {
  const { page, dialog, key } = await rotating(t, 'Leaked');
  await page.getByLabel('Grace period for the current value').selectOption('0');
  await dialog
    .getByText('The current value stops working at every gateway as soon as the key is rotated')
    .waitFor();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('The previous value is no longer valid.').waitFor();
  t.equal(await statusOf(key.key), 401);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  t.ok(await page.getByLabel('Key value').isVisible(), 'a slip does not close it');
});

t.test('an invalid duration shows an error at its field, and nothing is rotated', async (t) => {
  const { page, dialog, key } = await rotating(t, 'Typed');
  await page.getByLabel('Grace period for the current value').selectOption('own');
  for (const [typed, unit, words] of [
    ['', 'hours', 'The number of hours must be a whole number, such as 60.'],
    ['1.5', 'days', 'The number of days must be a whole number, such as 60.'],
    ['31', 'days', 'The number of days must be at most 30.'],
    ['0', 'minutes', 'The number of minutes must be 1 or more.'],
  ] as const) {
    await page.getByLabel('Duration').fill(typed);
    await page.getByLabel('Unit').selectOption(unit);
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText(words).waitFor();
    await page.locator('input[name=grace_seconds]:focus').waitFor();
  }
  t.match(await keyOf(key.id), { prefix: key.prefix, version: 1 });
});

t.test('the key of the session is rotated, and the browser goes on with the new value', async (t) => {
  const own = await makeKey(world, owner.key, { name: 'Own' });
  const { page } = await signedIn(t, world, own.key, { at: [`keys/${own.id}`, 'Own'] });
  const dialog = await asked(page, 'Own');
  await dialog.getByText('You are signed in with this key.').waitFor();
  await page.getByLabel('Grace period for the current value').selectOption('0');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('You are now signed in with the new value.').waitFor();
  const value = await page.getByLabel('Key value').inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  t.same([await statusOf(own.key), await statusOf(value)], [401, 200]);
  await page.getByText(`${value.slice(0, 10)}…`).waitFor();
  await page.getByRole('link', { name: 'Keys' }).first().click();
  await page.getByRole('row', { name: /Own Signed in/ }).waitFor();
  await page.reload();
  await page.getByRole('row', { name: /Own Signed in/ }).waitFor();
});

t.test('the value of a rotated key is not lost by a slip', async (t) => {
  const { page } = await rotating(t, 'Rotated');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  const unloads = page.waitForEvent('dialog');
  await page.evaluate('void setTimeout(() => location.reload())');
  await (await unloads).dismiss();
  t.equal(await page.getByLabel('Key value').inputValue(), value, 'it is there still');
});

t.test('a key that was changed meanwhile is not rotated before that is seen', async (t) => {
  const { page, dialog, key } = await rotating(t, 'Shared');
  const { body } = await api.post<{ prefix: string }>(`/api/keys/${key.id}/rotate/`, {});
  await api.patch(`/api/keys/${key.id}/`, { rpm_limit: 1_000, name: 'Renamed' });
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.waitFor();
  await page.locator('[role=alert]:focus').waitFor();
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), [
    'NameSharedRenamed',
    'Can manageyesno',
    'Requests per minutenone1,000',
    `Value prefix${key.prefix}${body.prefix}`,
  ]);
  t.match(await keyOf(key.id), { prefix: body.prefix }, 'it is not rotated again');
  // Changed again while the question was open: the page asks about that too.
  await api.patch(`/api/keys/${key.id}/`, { rpm_limit: 2_000 });
  await conflict.getByRole('button', { name: 'Rotate anyway' }).click();
  await conflict.getByRole('row', { name: 'Requests per minute 1,000 2,000' }).waitFor();
  await conflict.getByRole('button', { name: 'Rotate anyway' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  t.equal(await statusOf(value), 200);
});

t.test('where the answer is lost, the second try says that the key was rotated', async (t) => {
  const { page, dialog, key } = await rotating(t, 'Unseen');
  let isLost = true;
  await page.route('**/rotate/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.abort() : route.continue());
    isLost = false;
  });
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByText('The gateway did not confirm whether the key was rotated.').waitFor();
  const { prefix = '' } = (await keyOf(key.id)) ?? {};
  t.not(prefix, key.prefix, 'it was');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('row', { name: `Value prefix ${key.prefix} ${prefix}` }).waitFor();
  await page.getByText('The previous value, which is still valid, ends immediately').waitFor();
  t.equal(await statusOf(key.key), 200, 'nothing is ended before it is said');
});

t.test('edits in the form outlast a rotation beside it, and are saved then', async (t) => {
  const key = await makeKey(world, owner.key, { name: 'Edited' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${key.id}?part=settings`, 'Edited'] });
  await page.getByLabel('Note').fill('Mine');
  await asked(page, 'Edited');
  await newValue(page);
  t.equal(await page.getByLabel('Note').inputValue(), 'Mine');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Saved the key.').waitFor();
  t.match(await keyOf(key.id), { description: 'Mine' });
});

t.test('the operator rotates a key of an account, and ends the previous value', async (t) => {
  const key = await makeKey(world, owner.key, { name: 'Desk' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${owner.accountId}/keys/${key.id}`, 'Desk'],
  });
  await asked(page, 'Desk');
  const value = await newValue(page);
  await page.getByText(`${value.slice(0, 10)}…`).waitFor();
  t.same([await statusOf(key.key), await statusOf(value)], [200, 200]);
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End it now' }).click();
  await page.getByText('The previous value is valid until').waitFor({ state: 'detached' });
  t.same([await statusOf(key.key), await statusOf(value)], [401, 200]);
});
